import { writeFile } from 'node:fs/promises'
import { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

const { GATEWAY, KEY: apiKey, MODEL: model, FORMAT } = process.env
setTracingDisabled(true)
setDefaultOpenAIClient(new OpenAI({ apiKey, baseURL: `${GATEWAY}/v1` }))
setOpenAIAPI(FORMAT === 'chat' ? 'chat_completions' : 'responses')

const write = tool({
  name: 'write_file',
  description: 'Writes a file',
  parameters: z.object({ path: z.string(), content: z.string() }),
  execute: async ({ path, content }) => {
    await writeFile(path, content)
    return `Wrote ${path}.`
  },
})
const agent = new Agent({ name: 'Editor', model, instructions: 'You edit files.', tools: [write] })
const answer = await run(agent, process.argv[2], { stream: true })
for await (const text of answer.toTextStream()) process.stdout.write(text)
await answer.completed
