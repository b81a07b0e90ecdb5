import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let plane: DataPlane

beforeAll(async () => {
  plane = await startDataPlane({
    providers: [{ kind: 'gemini', baseUrl: 'http://127.0.0.1:1' }],
    routes: [makeRoute('gemini-*', [makeTarget('gemini')])],
  })
})
afterAll(() => plane.stop())

it('shows the SDK a model that a pattern serves, and no other', async () => {
  const httpOptions = { baseUrl: `${plane.baseUrl}/v1/gemini` }
  const { models } = new GoogleGenAI({ apiKey: plane.key, httpOptions })
  expect(await models.get({ model: 'gemini-9-pro' })).toMatchObject({ name: 'models/gemini-9-pro' })
  await expect(models.get({ model: 'other' })).rejects.toMatchObject({ status: 404 })
})
