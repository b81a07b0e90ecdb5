import type { FieldTable } from '../field-table.ts'

export const chatFields: FieldTable = {}
