import { useCallback, useEffect, useRef, useState } from 'react'
import type { SentEvent } from '../../../../admin/contract/requests/send.ts'
import { callOperation } from '../../client/admin.ts'
import { type Fault, faultOf } from '../../client/fault.ts'
import { applyEvent, emptyResponse, type PlaygroundResponse } from './playground-response.ts'

export interface ResponseCall {
  answer: PlaygroundResponse | null
  fault: Fault | null
  busy: boolean
  send(input: object): Promise<void>
  stop(): void
}

/** One request at a time. Received text is drawn once per frame, however small its parts are. */
export function useResponse(): ResponseCall {
  const [answer, setAnswer] = useState<PlaygroundResponse | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [busy, setBusy] = useState(false)
  const current = useRef<AbortController | null>(null)
  useEffect(() => () => current.current?.abort(), [])
  const send = useCallback(async (input: object) => {
    current.current?.abort()
    const controller = new AbortController()
    current.current = controller
    setBusy(true)
    setFault(null)
    let now = emptyResponse
    let frame = 0
    const show = () => {
      frame = 0
      setAnswer(now)
    }
    setAnswer(now)
    try {
      const events = (await callOperation(['requests', 'send'], input, controller.signal)) as AsyncIterable<SentEvent>
      for await (const event of events) {
        now = applyEvent(now, event)
        frame ||= requestAnimationFrame(show)
      }
    } catch (error) {
      if (controller.signal.aborted) now = { ...now, state: 'stopped' }
      else setFault(faultOf(error))
    }
    cancelAnimationFrame(frame)
    if (current.current !== controller) return
    // Without a head nothing was ever sent: the fault alone says what happened.
    setAnswer(now.begin === null ? null : now)
    setBusy(false)
  }, [])
  const stop = useCallback(() => current.current?.abort(), [])
  return { answer, fault, busy, send, stop }
}
