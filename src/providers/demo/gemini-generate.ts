import { asArray, asObject, asPositiveCount, type JsonObject } from '../../core/json/json-value.ts'
import { answerJson, answerStream, type DemoAnswer, demoId } from './answer.ts'
import { composeReply, countTokens, type DemoReply, readMessages, readText } from './reply.ts'
import { embedText } from './vector.ts'

/** Members may come in camelCase or snake_case (proto3 JSON; wire/lanes.md section 3.2). */
function member(body: JsonObject | null, camel: string, snake: string): unknown {
  return body?.[camel] ?? body?.[snake]
}

function replyTo(body: JsonObject, long: boolean): DemoReply {
  const { question, prompt } = readMessages(body.contents, 'parts')
  const config = asObject(member(body, 'generationConfig', 'generation_config'))
  const system = readText(asObject(member(body, 'systemInstruction', 'system_instruction'))?.parts)
  return composeReply(
    question,
    prompt + system,
    long,
    asPositiveCount(member(config, 'maxOutputTokens', 'max_output_tokens')),
  )
}

/** `:generateContent`. Source: wire/streaming.md section 4. */
export function answerGenerate(body: JsonObject, model: string, long: boolean): DemoAnswer {
  const reply = replyTo(body, long)
  return answerJson(200, part(demoId(''), model, reply.text, reply, reply.outputTokens, true))
}

/** `:streamGenerateContent`: events with `alt=sse`, else one JSON array that arrives element by element. */
export function answerStreamGenerate(body: JsonObject, model: string, long: boolean, sse: boolean): DemoAnswer {
  const reply = replyTo(body, long)
  const id = demoId('')
  const last = reply.pieces.length - 1
  const elements = reply.pieces.map((piece, index) =>
    JSON.stringify(part(id, model, piece, reply, index + 1, index === last)),
  )
  if (sse)
    return answerStream(
      elements.map((element) => `data: ${element}\r\n\r\n`),
      [],
      'text/event-stream',
    )
  const chunks = elements.map((element, index) => (index === 0 ? `[${element}` : `,\r\n${element}`))
  return answerStream([...chunks, ']\n'], [], 'application/json; charset=UTF-8')
}

function part(id: string, model: string, text: string, reply: DemoReply, outputTokens: number, last: boolean): object {
  const finish = last ? { finishReason: reply.shortened ? 'MAX_TOKENS' : 'STOP' } : {}
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, ...finish, index: 0 }],
    usageMetadata: {
      promptTokenCount: reply.inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: reply.inputTokens + outputTokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: reply.inputTokens }],
    },
    modelVersion: model,
    responseId: id,
  }
}

/** `:countTokens`; the contents may stand in a whole `generateContentRequest`. */
export function answerCount(body: JsonObject): DemoAnswer {
  const inner = asObject(member(body, 'generateContentRequest', 'generate_content_request')) ?? body
  const tokens = countTokens(readMessages(inner.contents, 'parts').prompt)
  return answerJson(200, { totalTokens: tokens, promptTokensDetails: [{ modality: 'TEXT', tokenCount: tokens }] })
}

/** `:embedContent`. */
export function answerEmbed(body: JsonObject): DemoAnswer {
  return answerJson(200, { embedding: embed(body) })
}

/** `:batchEmbedContents`, which the SDKs call even for one text. */
export function answerBatchEmbed(body: JsonObject): DemoAnswer {
  return answerJson(200, { embeddings: asArray(body.requests).map((request) => embed(asObject(request) ?? {})) })
}

function embed(request: JsonObject): object {
  const size = asPositiveCount(member(request, 'outputDimensionality', 'output_dimensionality'))
  return { values: [...embedText(readText(asObject(request.content)?.parts), size)] }
}
