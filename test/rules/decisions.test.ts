import { describe, expect, it } from 'vitest'
import { checkDecisions } from './checks/decisions.ts'
import { readPages } from './checks/prose.ts'

const first = { path: 'docs/decisions/0001-a.md', text: '# 0001: A\n\nStatus: accepted (2026-11-21)\n' }
const third = {
  path: 'docs/decisions/0003-c.md',
  text: '# 0003: C\n\nStatus: accepted (2026-11-21), superseded by [0001](0001-a.md)\n',
}
const rows = [
  '| [0001](0001-a.md) | A | accepted | a |',
  '| [0003](0003-c.md) | C | superseded by [0001](0001-a.md) | c |',
]
const indexOf = (lines: string[]) => ({
  path: 'docs/decisions/README.md',
  text: ['0002 was never used.', '', ...lines].join('\n'),
})

describe('the index of decisions', () => {
  it('is let alone where it is equal to the pages', () => {
    expect(checkDecisions([first, third, indexOf(rows)])).toEqual([])
  })

  it.each([
    ['a row is missing', [first, third, indexOf(rows.slice(0, 1))], 'no row begins with | [0003]'],
    ['a title differs', [{ ...first, text: first.text.replace(': A', ': B') }, third, indexOf(rows)], '| B | accepted'],
    ['a status differs', [first, { ...third, text: third.text.replace(/,.+/, '') }, indexOf(rows)], '| C | accepted'],
    ['a status is missing', [{ ...first, text: '# 0001: A\n' }, third, indexOf(rows)], 'the third line is "Status:'],
    ['a title is missing', [{ ...first, text: 'A\n' }, third, indexOf(rows)], 'the first line is "# 0001: Title"'],
    ['a page is missing', [first, third, indexOf([...rows, '| [0004](0004-d.md) | D |'])], 'there is no page for'],
    ['rows are out of order', [first, third, indexOf([...rows].reverse())], 'not in the order'],
    ['a number is given twice', [first, { ...first, path: 'docs/decisions/0001-b.md' }], '0001: two decisions'],
    ['a number is missing', [first, third, { ...indexOf(rows), text: rows.join('\n') }], 'missing number 0002'],
  ])('is seen when %s', (_what, pages, message) => {
    expect(checkDecisions(pages).join('\n')).toContain(message)
  })

  it('is equal to the pages', () => {
    const pages = readPages()
    expect(pages.filter(({ path }) => path.startsWith('docs/decisions/')).length).toBeGreaterThan(40)
    expect(checkDecisions(pages)).toEqual([])
  })
})
