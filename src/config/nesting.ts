import { CST, Lexer } from 'yaml'

/** No settings are nested so deeply; a parser calls itself once a level. */
const deepest = 300
/** Each level of a block is indented further than the one around it. */
const furthest = 4 * deepest

/**
 * Where a text of YAML is nested more deeply than anything that somebody means; null: nowhere. Only splits it, and no further than
 * there.
 */
export function findDeepNesting(text: string): number | null {
  let offset = 0
  let open = 0
  let column = 0
  let indent = 0
  for (const token of new Lexer().lex(text)) {
    if (isMark(token)) continue
    const type = CST.tokenType(token)
    if (type === 'newline') {
      offset += token.length
      column = 0
      indent = 0
      continue
    }
    if (type === 'flow-map-start' || type === 'flow-seq-start') open++
    else if (type === 'flow-map-end' || type === 'flow-seq-end') open = Math.max(0, open - 1)
    if (open > deepest) return offset
    if (type === 'space' && column === indent) indent += token.length
    const begins = type === 'seq-item-ind' || type === 'explicit-key-ind'
    if (open === 0 && (begins ? column : type === 'map-value-ind' ? indent : 0) > furthest) return offset
    offset += token.length
    column += token.length
  }
  return null
}

/** The lexer's own signs between tokens: they stand for no text. */
function isMark(token: string): boolean {
  return token === CST.BOM || token === CST.DOCUMENT || token === CST.FLOW_END || token === CST.SCALAR
}
