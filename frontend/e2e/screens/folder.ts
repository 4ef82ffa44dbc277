import { join } from 'node:path'
import { repo } from '../support/nyala.ts'

export const FOLDER = join(repo, 'docs/screens')

/** And what names of pictures end with in each. */
export const THEMES = [
  ['light', ''],
  ['dark', '-gelap'],
] as const
