import { describe, expect, it } from 'vitest'
import { checkCitations, citingText, readCitingTexts } from './checks/citations.ts'

const planted = (text: string, path = 'src/core/planted.ts') => checkCitations([citingText(path, text)])

describe('what comments and pages cite', () => {
  it.each([
    ['a document', '/** See house.md. */', 'there is no document house.md'],
    ['a document by half its name', '// Source: lanes.md', 'there is no document lanes.md'],
    ['a rule', '// contract.md rule 99', 'has no rule 99'],
    ['one rule of several', '// contract.md rules 2 and 99', 'has no rules 99'],
    ['a section', '// product.md section 12', 'has no section 12'],
    [
      'a section in the next line',
      '/**\n * Source: wire/lanes.md,\n * sections 1.5 and 3.9.\n */',
      'has no sections 3.9',
    ],
    ['a section without the word', '// wire/lanes.md, 3.2', 'say "section" or "rule"'],
    ['a rule without a file', '// contract rule 2', 'name the file'],
    ['a setting', '// contract.md, `admin.sockets`', 'has no `admin.sockets`'],
    ['a heading', '// contract.md, Flagging.', 'has no heading Flagging'],
    ['a heading in a text for people', "const remedy = 'docs/operations.md, Upgrading.'", 'has no heading Upgrading'],
    ['a page in a text for people', "const remedy = 'see docs/none.md'", 'there is no document docs/none.md'],
    ['a decision', '// decision 0999', 'there is no decision 0999'],
    ['one decision of several', '// decisions 0001 and 0999', 'there is no decision 0999'],
    ['a decision by its path', '// docs/decisions/0999', 'there is no decision 0999'],
    ['a decision in brackets', '// a reason (0099)', 'there is no decision 0099'],
    ['a decision in short', '// decision 99', 'there is no decision 99'],
  ])('is seen when %s is missing', (_what, text, message) => {
    expect(planted(text)).toEqual([expect.stringMatching(/^src\/core\/planted\.ts:\d+: /)])
    expect(planted(text)[0]).toContain(message)
  })

  it('is seen in pages and in other files', () => {
    expect(planted('see [x](y), product.md section 12', 'docs/planted.md')).toHaveLength(1)
    expect(planted('streaming.md §9', 'docs/spec/wire/planted.md')).toHaveLength(1)
    expect(planted('# contract.md rule 99', 'scripts/planted.service')).toHaveLength(1)
  })

  it('is let alone where it is there, and where nothing is cited', () => {
    const text = [
      '// contract.md rules 2, 3 and 28; contract.md, Settings; contract.md, `admin.socket`; product.md section 2, item 4',
      '/** wire/lanes.md sections 1.5, 2.5, 3.6 to 3.6; wire/streaming.md §0, wire/errors.md. */',
      '// docs/operations.md, Upgrade; decisions 0001 and 0002; docs/decisions/0040; (0012) README.md https://a.example/b.md',
      "const pages = { 'errors.md': 'lanes.md, 3' } // (2026)",
    ]
    expect(planted(text.join('\n'))).toEqual([])
  })

  it('is there', () => {
    const texts = readCitingTexts()
    expect(texts.length).toBeGreaterThan(1000)
    expect(checkCitations(texts)).toEqual([])
  })
})
