import { describe, expect, it } from 'vitest'
import { fetchMedia } from '../../../src/gateway/translation/fetch-media.ts'
import { refusePublicAddress } from '../../../src/providers/address-guard.ts'
import type { OutboundRequest, ResponseSink, Transport } from '../../../src/providers/contract.ts'
import type { MediaPart } from '../../../src/translate/conversation.ts'
import { listAddresses, placeMedia } from '../../../src/translate/fetched-media.ts'
import { codecOf, isFault, plainCarriers } from '../../support/translate/stage.ts'

interface Served {
  status?: number
  headers?: string[]
  chunks?: Buffer[]
}

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64')

/** Answers by address, and keeps what it was asked for. */
function serve(answers: Readonly<Record<string, Served>>) {
  const asked: OutboundRequest[] = []
  let aborted = 0
  const transport: Transport = {
    send(request, sink: ResponseSink) {
      asked.push(request)
      const { status = 200, headers = [], chunks = [] } = answers[request.origin + request.path] ?? { status: 404 }
      queueMicrotask(() => {
        sink.onHead(status, headers)
        for (const chunk of chunks) sink.onData(chunk)
        sink.onEnd()
      })
      return { abort: () => aborted++, pause() {}, resume() {} }
    },
  }
  return { transport, asked, aborted: () => aborted }
}

const part = (url: string, kind: 'image' | 'file' = 'image'): [string, MediaPart] => [
  url,
  { kind, path: 'messages[0].content[1]', source: { kind: 'url', type: '', url } },
]
const roomy = { reserve: () => true, release() {} }
const fetchOne = (url: string, answers: Readonly<Record<string, Served>>, kind?: 'image' | 'file') =>
  fetchMedia(serve(answers).transport, new Map([part(url, kind)]), roomy)

describe('what is at an address', () => {
  const url = 'https://pictures.example/a?b=1'

  it('is told by its first bytes, whatever is said of it', async () => {
    const { transport, asked } = serve({ [url]: { headers: ['content-type', 'text/html'], chunks: [png] } })
    const found = await fetchMedia(transport, new Map([part(url)]), roomy)
    expect(found).toEqual(new Map([[url, { type: 'image/png', data: png.toString('base64') }]]))
    expect(asked).toMatchObject([
      {
        method: 'GET',
        origin: 'https://pictures.example',
        path: '/a?b=1',
        egress: { proxy: 'direct', allowPrivate: false },
      },
    ])
    expect(JSON.stringify(asked)).not.toContain('authorization')
    const pdf = Buffer.from('%PDF-1.7')
    expect(await fetchOne(url, { [url]: { chunks: [pdf] } }, 'file')).toBeInstanceOf(Map)
  })

  it('is held only where there is memory for all that it takes on its way, and only so long', async () => {
    const { transport, aborted } = serve({ [url]: { chunks: [png, Buffer.alloc(3_000_000), Buffer.alloc(3_000_000)] } })
    const asked: number[] = []
    let released = 0
    const reserve = (_: object, bytes: number) => asked.push(bytes) < 2
    const found = await fetchMedia(transport, new Map([part(url)]), { reserve, release: () => released++ })
    expect(found).toMatchObject({ code: 'overloaded' })
    expect(aborted()).toBe(1)
    expect(asked[1]).toBeGreaterThan(9_000_000)
    expect(released).toBe(1)
  })

  it.each([
    { name: 'a page', answer: { chunks: [Buffer.from('<html>')] }, why: 'it is not an image' },
    { name: 'nothing', answer: { status: 404 }, why: 'answered 404' },
    { name: 'compressed', answer: { headers: ['content-encoding', 'gzip'], chunks: [png] }, why: 'compressed' },
    { name: 'more than 20 MB', answer: { chunks: [png, Buffer.alloc(20_000_000)] }, why: 'larger than' },
  ])('is refused by name: $name', async ({ answer, why }) => {
    expect(await fetchOne(url, { [url]: answer })).toMatchObject({
      code: 'not_translatable',
      param: 'messages[0].content[1]',
      message: expect.stringContaining(why),
    })
  })

  it('is followed to where it leads, and nowhere that is not public', async () => {
    const leads = (location: string) => ({
      [url]: { status: 302, headers: ['location', location] },
      'https://pictures.example/c': { chunks: [png] },
    })
    expect(await fetchOne(url, leads('/c'))).toBeInstanceOf(Map)
    expect(await fetchOne(url, leads('http://169.254.169.254/latest'))).toMatchObject({
      message: expect.stringContaining('not a public one'),
    })
    expect(await fetchOne(url, leads(url))).toMatchObject({ message: expect.stringContaining('too often') })
  })
})

it.each([
  ['http://127.0.0.1/a', 'not a public one'],
  ['http://[::1]/a', 'not a public one'],
  ['http://2130706433/a', 'not a public one'],
  ['http://10.1.2.3/a', 'not a public one'],
  ['http://localhost/a', 'not a public one'],
  ['http://printer/a', 'not a public one'],
  ['http://db.internal/a', 'not a public one'],
  ['http://metadata.google.internal/a', 'not a public one'],
  ['file:///etc/passwd', 'not a web address'],
  ['https://user:secret@pictures.example/a', 'credentials'],
])('the gateway never calls %s for a client', (url, why) => {
  expect(refusePublicAddress(new URL(url))).toContain(why)
})

it('the gateway calls public addresses for a client', () => {
  for (const url of ['https://pictures.example/a', 'http://93.184.216.34/a', 'https://[2606:2800:220:1::1]/a'])
    expect(refusePublicAddress(new URL(url))).toBeNull()
})

describe('addresses of which a provider needs the bytes', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const urls = ['https://a.example/x.png', 'http://a.example/y.png', 'https://a.example/z', 'https://youtu.be/q']
  const body = { model: 'm', messages: [{ role: 'user', content: urls.map(image) }] }
  const read = codecOf('chat').readRequest(body, { streamed: false, carriers: plainCarriers })
  if (isFault(read)) throw new Error(read.message)

  it.each([
    { format: 'generate', model: 'gemini-2.5-pro', hosted: false, want: urls.slice(0, 3) },
    { format: 'generate', model: 'gemini-3-pro', hosted: false, want: urls.slice(1, 3) },
    { format: 'messages', model: 'claude-opus-4-8', hosted: false, want: [] },
    { format: 'messages', model: 'claude-opus-4-8', hosted: true, want: urls },
    { format: 'responses', model: 'gpt-5', hosted: false, want: [] },
  ] as const)('$format, $model, hosted: $hosted', ({ want, ...target }) => {
    expect([...listAddresses(read, target).keys()]).toEqual(want)
  })

  it('are replaced by what was found', () => {
    const found = new Map([['https://a.example/z', { type: 'image/png', data: 'AA==' }]])
    const sources = placeMedia(read, found).turns[0]?.parts.map((each) => ('source' in each ? each.source.kind : null))
    expect(sources).toEqual(['url', 'url', 'data', 'url'])
  })
})
