import { expect, it } from 'vitest'
import { renderTable } from '../../cli/print/table.ts'
import { makePaint, type View } from '../../cli/print/view.ts'

const view: View = { width: null, paint: makePaint(false), now: 0, utc: false }

it('amounts in a table have their points under one another', () => {
  const columns = [
    { field: 'model', title: 'Model' },
    { field: 'rate', title: 'Rate', format: 'rate' },
    { field: 'usd', title: 'Cost', format: 'money' },
  ] as const
  const rows = [
    { model: 'a', rate: 0.15, usd: 123_456.78 },
    { model: 'b', rate: 10, usd: 0.000000001 },
    { model: 'c', rate: 0.0005, usd: null },
  ]
  expect(renderTable(columns, rows, view).split('\n')).toEqual([
    'MODEL      RATE           COST',
    'a       $0.15    $123,456.78',
    'b      $10.00     $0.000000001',
    'c       $0.0005              –',
    '',
  ])
})
