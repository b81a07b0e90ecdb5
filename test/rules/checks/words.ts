import { type Node, Visitor } from 'oxc-parser'
import type { Module, Violation } from './modules.ts'

export interface BannedWord {
  /** In names: whole words in lower case, as camel case or a dash separates them. In texts: words as they stand. */
  words: readonly string[]
  /** What the field says instead. */
  instead: string
}

/** What a module declares and says, taken out once for all the words that are looked for. */
export interface Wording {
  module: Module
  /** Each declared name, and the file's own, as words: `when client gone`. */
  names: Found
  /** Texts for people: string literals, templates, text in JSX. Comments are not looked at. */
  texts: Found
}

export function readWording(module: Module): Wording {
  const names: Found = [...declaredNames(module), [fileNameOf(module.path), 0]]
  return { module, names: names.map(([name, offset]) => [wordsOf(name), offset]), texts: textsOf(module) }
}

export function findInNames(wordings: Wording[], { words }: BannedWord): Violation[] {
  return find(wordings, 'names', new RegExp(`(?<!\\w)(?:${words.join('|')})(?!\\w)`))
}

export function findInTexts(wordings: Wording[], { words }: BannedWord): Violation[] {
  return find(wordings, 'texts', new RegExp(`(?<![\\w-])(?:${words.join('|')})(?![\\w-])`, 'i'))
}

function find(wordings: Wording[], part: 'names' | 'texts', form: RegExp): Violation[] {
  return wordings.flatMap(({ module, [part]: found }) =>
    found
      .filter(([text]) => form.test(text))
      .map(([text, offset]) => `${module.path}:${module.lineOf(offset)}: ${text.trim()}`),
  )
}

function fileNameOf(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.\w+$/, '')
}

/** `whenClientGone`, `when-client-gone` and `WHEN_CLIENT_GONE` as `when client gone`. */
function wordsOf(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[-_$]/g, ' ')
    .toLowerCase()
}

type Found = (readonly [text: string, offset: number])[]

function declaredNames({ program }: Module): Found {
  const found: Found = []
  const add = (node: { name?: unknown; type: string; start: number } | null | undefined) => {
    const isName = node?.type === 'Identifier' || node?.type === 'PrivateIdentifier'
    if (isName && typeof node.name === 'string') found.push([node.name, node.start])
  }
  const keyed = ({ key, computed }: { key: Node; computed?: boolean }) => computed !== true && add(key)
  const callable = ({ id, params }: { id?: Node | null; params: readonly Node[] }) => {
    add(id)
    for (const param of params) addPattern(param, add)
  }
  new Visitor({
    VariableDeclarator: ({ id }) => addPattern(id, add),
    FunctionDeclaration: callable,
    FunctionExpression: callable,
    ArrowFunctionExpression: callable,
    ClassDeclaration: ({ id }) => add(id),
    TSInterfaceDeclaration: ({ id }) => add(id),
    TSTypeAliasDeclaration: ({ id }) => add(id),
    MethodDefinition: keyed,
    PropertyDefinition: keyed,
    TSPropertySignature: keyed,
    TSMethodSignature: keyed,
  }).visit(program)
  return found
}

/** The names that a parameter or a declaration binds: one, or those of a pattern. */
function addPattern(node: Node | null, add: (node: Node) => void): void {
  if (node === null) return
  if (node.type === 'Identifier') add(node)
  else if (node.type === 'AssignmentPattern') addPattern(node.left, add)
  else if (node.type === 'RestElement') addPattern(node.argument, add)
  else if (node.type === 'ArrayPattern') for (const element of node.elements) addPattern(element, add)
  else if (node.type === 'TSParameterProperty') addPattern(node.parameter, add)
  else if (node.type === 'ObjectPattern')
    for (const property of node.properties)
      addPattern(property.type === 'RestElement' ? property.argument : property.value, add)
}

function textsOf({ program }: Module): Found {
  const found: Found = []
  new Visitor({
    Literal: ({ value, start }) => {
      if (typeof value === 'string' && !/^\.{0,2}\/|\.tsx?$/.test(value)) found.push([value, start])
    },
    TemplateElement: ({ value, start }) => {
      found.push([value.cooked ?? value.raw, start])
    },
    JSXText: ({ value, start }) => {
      found.push([value, start])
    },
  }).visit(program)
  return found
}
