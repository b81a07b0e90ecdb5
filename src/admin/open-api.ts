import { type OpenAPI, OpenAPIGenerator } from '@orpc/openapi'
import { ZodToJsonSchemaConverter } from '@orpc/zod/zod4'
import { contract } from './contract/index.ts'

/** The OpenAPI document of the admin contract, for `/api/openapi.json`. */
export function openApiDocument(version: string): Promise<OpenAPI.Document> {
  const generator = new OpenAPIGenerator({ schemaConverters: [new ZodToJsonSchemaConverter()] })
  return generator.generate(contract, {
    info: { title: 'spgw admin', version },
    servers: [{ url: '/api' }],
  })
}
