import { describe, expect, it } from 'vitest'
import { FormScanner } from '../../src/core/bytes/form-scan.ts'
import { leadingFields } from '../../src/lanes/additional-models.ts'
import { lanes } from '../../src/lanes/index.ts'

const forms = lanes.flatMap(({ endpoints }) =>
  endpoints.filter(({ requestForms }) => requestForms.includes('multipart')),
)
const asking = forms.filter(({ formFields, model }) => formFields.needed.includes('model') && model !== 'none')

function inspect(endpoint: (typeof forms)[number], fields: Record<string, string>) {
  const match = { endpoint, pathModel: null, path: endpoint.path, version: null, object: null }
  const found = Object.entries(fields).map(([name, value]) => ({ name, value, start: 0, end: value.length }))
  return endpoint.inspectForm(match, '', found)
}

describe('a form that asks a model', () => {
  it.each(asking.map((endpoint) => [endpoint.operation, endpoint] as const))(
    'has no field that would lead it elsewhere: %s',
    (_operation, endpoint) => {
      expect(endpoint.formFields.early).toEqual(expect.arrayContaining(leadingFields))
      for (const name of leadingFields)
        expect(inspect(endpoint, { model: 'm', [name]: 'x' })).toMatchObject({ code: 'invalid_request', param: name })
      // As null in JSON.
      expect(inspect(endpoint, { model: 'm', api_base: '' })).toMatchObject({ model: 'm' })
    },
  )

  it('has none of them as a list either', () => {
    const scanner = new FormScanner('b', ['model', ...leadingFields])
    scanner.push(Buffer.from('--b\r\nContent-Disposition: form-data; name="fallbacks[0]"\r\n\r\nx\r\n--b--\r\n'))
    expect(scanner.wrong).toContain('the field fallbacks is named in brackets')
  })
})
