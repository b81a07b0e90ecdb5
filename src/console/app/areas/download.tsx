import { useEffect, useRef, useState } from 'react'
import { formatBytes } from '../../../admin/contract/show-value.ts'
import { callOperation } from '../client/admin.ts'
import { type Fault, faultOf } from '../client/fault.ts'

/** The events of admin/contract/download.ts, of whatever operation. */
type DownloadEvent =
  | { kind: 'progress'; stage: string; done: number; total: number | null }
  | { kind: 'begin'; bytes: number; summary: Record<string, unknown> }
  | { kind: 'bytes'; base64: string }
  | { kind: 'end'; sha256: string }

export interface Download {
  state: 'idle' | 'preparing' | 'receiving' | 'done'
  /** What is being done, in a word or two. */
  stage: string
  done: number
  /** null: not known. */
  total: number | null
  summary: Record<string, unknown> | null
  sha256: string | null
}

const idle: Download = { state: 'idle', stage: '', done: 0, total: null, summary: null, sha256: null }

/** Downloads the file that an operation writes, and saves it only when it is complete. */
export function useDownload(path: readonly string[], fileName: string) {
  const [download, setDownload] = useState(idle)
  const [fault, setFault] = useState<Fault | null>(null)
  const current = useRef<AbortController | null>(null)
  useEffect(() => () => current.current?.abort(), [])
  const stop = () => {
    current.current?.abort()
    setFault(null)
    setDownload(idle)
  }
  const start = async (input: object) => {
    const controller = new AbortController()
    current.current = controller
    setFault(null)
    try {
      const events = (await callOperation(path, input, controller.signal)) as AsyncIterable<DownloadEvent>
      const parts: Uint8Array<ArrayBuffer>[] = []
      let now: Download = { ...idle, state: 'preparing', stage: 'Preparing' }
      for await (const event of events) {
        now = followStream(now, event, parts)
        setDownload(now)
      }
      if (now.state !== 'done') throw new Error('The download was incomplete, and nothing was saved.')
      save(new Blob(parts), fileName)
    } catch (error) {
      if (controller.signal.aborted) return
      setFault(faultOf(error))
      setDownload(idle)
    }
  }
  return { download, fault, start, stop }
}

function followStream(now: Download, event: DownloadEvent, parts: Uint8Array<ArrayBuffer>[]): Download {
  switch (event.kind) {
    case 'progress':
      return { ...now, state: 'preparing', stage: event.stage, done: event.done, total: event.total }
    case 'begin':
      return { ...now, state: 'receiving', stage: 'Receiving', done: 0, total: event.bytes, summary: event.summary }
    case 'bytes': {
      const part = decode(event.base64)
      parts.push(part)
      return { ...now, done: now.done + part.length }
    }
    case 'end':
      return { ...now, state: 'done', stage: 'Done', sha256: event.sha256 }
  }
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser has taken it on by the next turn.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

/** `spgw-backup-2026-01-31T12-00-00Z.backup` */
export function datedName(name: string, ending: string): string {
  return `${name}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}Z.${ending}`
}

export function DownloadProgress({ download }: { download: Download }) {
  const { state, stage, done, total } = download
  if (state === 'idle') return null
  const share = total === null || total === 0 ? undefined : Math.min(1, done / total)
  const figures = state === 'receiving' ? `${formatBytes(done)} of ${formatBytes(total ?? done)}` : null
  return (
    <div className="stack-tight" role="status">
      <p className="row spread">
        <span>{stage}</span>
        <span className="number quiet">{figures}</span>
      </p>
      {state === 'done' ? null : (
        <progress className="progress" aria-label={stage} {...(share !== undefined && { value: share })} />
      )}
    </div>
  )
}
