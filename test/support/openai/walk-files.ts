import { toFile } from 'openai'
import { expect } from 'vitest'
import { bytesOf, expectNotFound, ids, readAll, textFile, type Walk } from './walk.ts'

const line = (custom_id: string, model: string, content: object[] = []) => {
  const body = { model, messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }, ...content] }] }
  return JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body })
}

export const fileWalks: readonly Walk[] = [
  {
    family: 'files',
    async walk(client) {
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31) & 0xff))
      const file = await client.files.create({ file: await toFile(bytes, 'a.bin'), purpose: 'user_data' })
      const other = await client.files.create({ file: await textFile(), purpose: 'assistants' })
      expect(file.bytes).toBe(bytes.length)
      expect(await ids(client.files.list({ limit: 1 }))).toEqual(expect.arrayContaining([other.id, file.id]))
      expect(await ids(client.files.list({ purpose: 'assistants' }))).not.toContain(file.id)
      expect((await client.files.retrieve(file.id)).filename).toBe('a.bin')
      expect((await bytesOf(client.files.content(file.id))).equals(bytes)).toBe(true)
      expect((await client.files.delete(file.id)).deleted).toBe(true)
      await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 })
    },
  },
  {
    family: 'uploads',
    async walk(client) {
      const parts = ['Hello, ', 'parts!'].map((text) => Buffer.from(text))
      const about = { filename: 'p.txt', mime_type: 'text/plain', purpose: 'user_data' as const }
      const upload = await client.uploads.create({ ...about, bytes: Buffer.concat(parts).length })
      const part_ids: string[] = []
      for (const part of parts) {
        const data = await toFile(part, 'blob')
        part_ids.push((await client.uploads.parts.create(upload.id, { data })).id)
      }
      const { file } = await client.uploads.complete(upload.id, { part_ids })
      expect((await bytesOf(client.files.content(file?.id ?? ''))).toString()).toBe('Hello, parts!')
      const second = await client.uploads.create({ ...about, bytes: 1 })
      expect((await client.uploads.cancel(second.id)).status).toBe('cancelled')
    },
  },
  {
    family: 'batches',
    async walk(client, { chat: model }) {
      const lines = ['a', 'b'].map((id) => line(id, model)).join('\n')
      const input = await client.files.create({ file: await textFile('in.jsonl', lines), purpose: 'batch' })
      const about = { endpoint: '/v1/chat/completions' as const, completion_window: '24h' as const }
      const batch = await client.batches.create({ ...about, input_file_id: input.id })
      const done = await client.batches.retrieve(batch.id)
      const results = (await bytesOf(client.files.content(done.output_file_id ?? ''))).toString()
      expect(
        results
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).custom_id),
      ).toEqual(['a', 'b'])
      expect(await ids(client.batches.list({ limit: 1 }))).toContain(batch.id)
      const other = await client.batches.create({ ...about, input_file_id: input.id })
      expect((await client.batches.cancel(other.id)).status).toBe('cancelling')
      const foreign = line('c', model, [{ type: 'file', file: { file_id: 'file-of-others' } }])
      const { id } = await client.files.create({ file: await textFile('in.jsonl', foreign), purpose: 'batch' })
      await expectNotFound(client.batches.create({ ...about, input_file_id: id }))
    },
  },
  {
    family: 'vector stores',
    async walk(client) {
      const [one, two] = await Promise.all(
        ['one', 'two'].map(async (text) =>
          client.files.create({ file: await textFile(`${text}.txt`, text), purpose: 'assistants' }),
        ),
      )
      const store = await client.vectorStores.create({ name: 'notes', file_ids: [one!.id] })
      expect((await client.vectorStores.retrieve(store.id)).name).toBe('notes')
      await client.vectorStores.update(store.id, { name: 'more' })
      expect(await ids(client.vectorStores.list({ limit: 1 }))).toContain(store.id)
      const inside = { vector_store_id: store.id }
      await client.vectorStores.files.create(store.id, { file_id: two!.id })
      expect(await ids(client.vectorStores.files.list(store.id, { limit: 1 }))).toEqual([two!.id, one!.id])
      expect((await client.vectorStores.files.retrieve(two!.id, inside)).status).toBe('completed')
      await client.vectorStores.files.update(two!.id, { ...inside, attributes: { a: 'b' } })
      expect(await readAll(client.vectorStores.files.content(two!.id, inside))).toEqual([{ type: 'text', text: 'two' }])
      expect(await readAll(client.vectorStores.search(store.id, { query: 'x' }))).toHaveLength(2)
      await client.vectorStores.files.delete(two!.id, inside)
      const batch = await client.vectorStores.fileBatches.create(store.id, { file_ids: [two!.id] })
      expect((await client.vectorStores.fileBatches.retrieve(batch.id, inside)).status).toBe('completed')
      expect(await ids(client.vectorStores.fileBatches.listFiles(batch.id, inside))).toContain(two!.id)
      await client.vectorStores.fileBatches.cancel(batch.id, inside)
      expect((await client.vectorStores.delete(store.id)).deleted).toBe(true)
    },
  },
  {
    family: 'containers',
    async walk(client) {
      const file = await client.files.create({ file: await textFile('data.csv', 'a,b\n'), purpose: 'user_data' })
      const container = await client.containers.create({ name: 'box', file_ids: [file.id] })
      expect((await client.containers.retrieve(container.id)).name).toBe('box')
      expect(await ids(client.containers.list())).toContain(container.id)
      const copied = await client.containers.files.create(container.id, { file_id: file.id })
      const sent = await client.containers.files.create(container.id, { file: await textFile('more.csv', 'c\n') })
      expect(await ids(client.containers.files.list(container.id, { limit: 1 }))).toEqual([sent.id, copied.id])
      const inside = { container_id: container.id }
      expect((await client.containers.files.retrieve(sent.id, inside)).bytes).toBe(2)
      expect((await bytesOf(client.containers.files.content.retrieve(copied.id, inside))).toString()).toBe('a,b\n')
      await client.containers.files.delete(sent.id, inside)
      await client.containers.delete(container.id)
      await expect(client.containers.retrieve(container.id)).rejects.toMatchObject({ status: 404 })
    },
  },
  {
    family: 'skills',
    async walk(client) {
      const skill = await client.skills.create({ files: [await textFile('SKILL.md', '# one')] })
      expect((await client.skills.retrieve(skill.id)).default_version).toBe('1')
      expect(await ids(client.skills.list({ limit: 1 }))).toContain(skill.id)
      const inside = { skill_id: skill.id }
      const second = await client.skills.versions.create(skill.id, { files: [await textFile('SKILL.md', '# two')] })
      expect((await client.skills.update(skill.id, { default_version: second.version })).default_version).toBe('2')
      expect(await readAll(client.skills.versions.list(skill.id, { limit: 1 }))).toHaveLength(2)
      expect((await client.skills.versions.retrieve('2', inside)).version).toBe('2')
      expect((await bytesOf(client.skills.content.retrieve(skill.id))).toString()).toBe('# one')
      expect((await bytesOf(client.skills.versions.content.retrieve('2', inside))).toString()).toBe('# two')
      await client.skills.versions.delete('2', inside)
      expect((await client.skills.delete(skill.id)).deleted).toBe(true)
    },
  },
]
