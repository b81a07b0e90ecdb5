import { describe, expect, it } from 'vitest'
import { parseModule, readModules } from './checks/modules.ts'
import { checkOperationNames } from './checks/operations.ts'

describe('the name of an operation', () => {
  const planted = (text: string) => checkOperationNames([parseModule('src/lanes/openai/a.ts', text)])

  it.each([
    "if (endpoint.operation === 'chat') x()",
    "if ('chat' !== match!.endpoint.operation) x()",
    "const { operation } = endpoint; if (operation === 'chat') x()",
    "switch (match.endpoint.operation) { case 'chat': x() }",
    'if (stored.has(endpoint.operation)) x()',
    "if (uncounted.includes(exchange.match?.endpoint.operation ?? '')) x()",
    "if (endpoint.operation.startsWith('threads.')) x()",
    'if (/^images/.test(operation)) x()',
    'const names = watched[endpoint.operation]',
  ])('is seen where code decides by it: %s', (text) => {
    expect(planted(text)).toHaveLength(1)
  })

  it.each([
    'record({ operation: match.endpoint.operation })',
    'if (query.operation !== null) x()',
    'const serves = (operation) => kind.serves?.includes(operation) ?? true',
    "const text = 'Not served: ' + operation",
  ])('may be passed on and shown: %s', (text) => {
    expect(planted(text)).toEqual([])
  })

  it('decides nothing in the lanes and in the gateway', () => {
    expect(checkOperationNames(readModules('src/lanes', 'src/gateway'))).toEqual([])
  })
})
