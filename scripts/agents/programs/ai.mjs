import { writeFile } from 'node:fs/promises'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const { GATEWAY, KEY: apiKey, MODEL: model, FORMAT } = process.env
const openai = () => createOpenAI({ apiKey, baseURL: `${GATEWAY}/v1` })
const models = {
  chat: () => openai().chat(model),
  responses: () => openai().responses(model),
  messages: () => createAnthropic({ apiKey, baseURL: `${GATEWAY}/v1/anthropic/v1` })(model),
  generate: () => createGoogleGenerativeAI({ apiKey, baseURL: `${GATEWAY}/v1/gemini/v1beta` })(model),
}

const answer = streamText({
  model: models[FORMAT](),
  prompt: process.argv[2],
  stopWhen: stepCountIs(5),
  // Else it names what the model said by an id that only OpenAI knows.
  providerOptions: { openai: { store: false } },
  tools: {
    write_file: tool({
      description: 'Writes a file',
      inputSchema: z.object({ path: z.string(), content: z.string() }),
      execute: async ({ path, content }) => {
        await writeFile(path, content)
        return { written: path }
      },
    }),
  },
})
for await (const text of answer.textStream) process.stdout.write(text)
