import { textIn } from '../shell/address.ts'

/** `find`: only rows with this text are listed. */
export interface FindSearch {
  find?: string
}

export const readFind = (search: Record<string, unknown>): FindSearch => textIn(search, 'find')
