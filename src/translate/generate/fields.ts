import type { FieldTable } from '../field-table.ts'

export const generateFields: FieldTable = {}
