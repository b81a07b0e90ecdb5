import { GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
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

it('says what a model can answer as the price table does where its provider does not, and leaves out what nobody knows', async () => {
  const price = fillPrice({
    model: 'gemini-9-pro',
    source: 'set',
    version: 'v1',
    input: 1,
    output: 10,
    max_output: 65_536,
  })
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
  await plane.hear('has')
  const httpOptions = { baseUrl: `${plane.baseUrl}/v1/gemini` }
  const { models } = new GoogleGenAI({ apiKey: plane.key, httpOptions })
  const model = await models.get({ model: 'gemini-9-pro' })
  expect([model.outputTokenLimit, model.inputTokenLimit]).toEqual([65_536, undefined])
  expect((await models.get({ model: 'gemini-9-nano' })).outputTokenLimit).toBeUndefined()
})
