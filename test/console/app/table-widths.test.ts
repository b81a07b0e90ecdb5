import { expect, it } from 'vitest'
import { leastWidths } from '../../../src/console/app/parts/table-widths.ts'

it('columns without a width of their own keep room beside those that have one', () => {
  expect(leastWidths([{ width: '132px' }, {}, { width: '13%' }, { width: 'auto' }])).toEqual({
    '--least-wide': '492px',
    '--least-middle': '492px',
  })
})

it('where there is less room, some columns are narrower, and some left out', () => {
  const columns = [{ width: '240px', middleWidth: '132px' }, {}, { width: '92px', roomyOnly: true }, { width: '80px' }]
  expect(leastWidths(columns)).toEqual({ '--least-wide': '532px', '--least-middle': '332px' })
  expect(leastWidths([])).toEqual({ '--least-wide': '0px', '--least-middle': '0px' })
})
