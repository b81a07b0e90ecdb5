import { type MockAnswer, type MockCall, type MockFormat, parseObject, wholeAnswer } from './mock-format.ts'
import { mockOpenai } from './mock-openai.ts'

export const azureKey = '5f1e0000mockazurekey0000beef'
export const principal = {
  tenant_id: 'tenant-mock',
  client_id: 'client-mock-0001',
  client_secret: 'shh~mock~client~secret',
}
const scope = 'https://cognitiveservices.azure.com/.default'

/** A strict Azure OpenAI with one deployment, and the Entra ID in front of it (on the same address). */
export class MockAzure implements MockFormat {
  readonly name = 'openai'
  readonly basePath = ''
  readonly foreignHeaders = ['x-api-key', 'x-goog-api-key', 'anthropic-version']
  readonly tokens = new Set<string>()
  readonly deployment: string
  /** Seconds that a token lives. */
  tokenLife = 3600

  constructor(deployment: string) {
    this.deployment = deployment
  }

  refuse(call: MockCall): MockAnswer | null {
    if (call.path.endsWith('/oauth2/v2.0/token')) return null
    const bearer = /^Bearer (.+)$/.exec(call.headers.get('authorization') ?? '')?.[1]
    const key = call.headers.get('api-key')
    const known = bearer === undefined ? key === azureKey : key === undefined && this.tokens.has(bearer)
    return known
      ? null
      : error(call, 401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.')
  }

  answer(call: MockCall, usage: Parameters<MockFormat['answer']>[1]): MockAnswer {
    if (call.path.endsWith('/oauth2/v2.0/token')) return this.#sellToken(call)
    const v1 = /^\/openai\/v1(\/.+)$/.exec(call.path)?.[1]
    const version = call.query.get('api-version')
    if (v1 !== undefined) {
      if (version !== null && version !== 'preview') return error(call, 400, 'BadRequest', 'API version not supported')
      const asked = parseObject(call.body)?.model
      if (asked !== undefined && asked !== this.deployment) return this.#noDeployment(call)
      return mockOpenai.answer({ ...call, path: `/v1${v1}` }, usage)
    }
    if (version === null || !/^\d{4}-\d\d-\d\d/.test(version)) return error(call, 404, '404', 'Resource not found')
    const [, deployment, tail] = /^\/openai\/deployments\/([^/]+)(\/.+)$/.exec(call.path) ?? []
    if (deployment !== undefined && decodeURIComponent(deployment) !== this.deployment) return this.#noDeployment(call)
    const rest = tail ?? /^\/openai(\/(?:models|files|batches|responses).*)$/.exec(call.path)?.[1]
    if (rest === undefined) return error(call, 404, '404', 'Resource not found')
    return mockOpenai.answer({ ...call, path: `/v1${rest}` }, usage)
  }

  error(status: number, message: string, number: number): MockAnswer {
    return mockOpenai.error(status, message, number)
  }

  streamError(message: string, sent?: readonly Buffer[]): Buffer {
    return mockOpenai.streamError(message, sent)
  }

  #noDeployment(call: MockCall): MockAnswer {
    return error(call, 404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.')
  }

  #sellToken(call: MockCall): MockAnswer {
    const form = new URLSearchParams(call.body.toString())
    const wanted = { ...principal, grant_type: 'client_credentials', scope }
    const given = { ...Object.fromEntries(form), tenant_id: call.path.split('/')[1] }
    for (const [name, value] of Object.entries(wanted)) {
      if (given[name as keyof typeof given] === value) continue
      return json(401, {
        error: 'invalid_client',
        error_description: `AADSTS7000215: ${name} of ${principal.client_id}`,
      })
    }
    const token = `eyJ0.mock-${call.number}.sig`
    this.tokens.add(token)
    return json(200, { token_type: 'Bearer', expires_in: this.tokenLife, access_token: token })
  }
}

function error(call: MockCall, status: number, code: string, message: string): MockAnswer {
  return json(status, { error: { code, message } }, [['apim-request-id', `apim-${call.number}`]])
}

function json(status: number, body: unknown, more: [string, string][] = []): MockAnswer {
  return wholeAnswer(status, [['Content-Type', 'application/json'], ...more], JSON.stringify(body))
}
