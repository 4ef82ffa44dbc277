/** The last of a list; undefined of an empty one. (`at` is newer than the oldest browsers that are served.) */
export const lastOf = <T>(list: readonly T[]): T | undefined => list[list.length - 1]
