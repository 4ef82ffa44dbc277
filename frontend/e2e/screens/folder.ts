import { join } from 'node:path'
import { repo } from '../support/nyala.ts'

export const FOLDER = join(repo, 'docs/screens')

/** The themes, and the suffix of the pictures' names in each. */
export const THEMES = [
  ['light', ''],
  ['dark', '-gelap'],
] as const
