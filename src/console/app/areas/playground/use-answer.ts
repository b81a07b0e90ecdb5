import { useCallback, useEffect, useRef, useState } from 'react'
import type { SentEvent } from '../../../../admin/contract/send.ts'
import { callOperation } from '../../client/admin.ts'
import { type Fault, faultOf } from '../../client/fault.ts'
import { type Answer, noAnswer, readEvent } from './answer-state.ts'

export interface AnswerCall {
  answer: Answer | null
  fault: Fault | null
  busy: boolean
  send(input: object): Promise<void>
  stop(): void
}

/** One request at a time. What comes is shown once a frame, however small the pieces are. */
export function useAnswer(): AnswerCall {
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [busy, setBusy] = useState(false)
  const under = useRef<AbortController | null>(null)
  useEffect(() => () => under.current?.abort(), [])
  const send = useCallback(async (input: object) => {
    under.current?.abort()
    const own = new AbortController()
    under.current = own
    setBusy(true)
    setFault(null)
    let now = noAnswer
    let frame = 0
    const show = () => {
      frame = 0
      setAnswer(now)
    }
    setAnswer(now)
    try {
      const events = (await callOperation(['requests', 'send'], input, own.signal)) as AsyncIterable<SentEvent>
      for await (const event of events) {
        now = readEvent(now, event)
        frame ||= requestAnimationFrame(show)
      }
    } catch (error) {
      if (own.signal.aborted) now = { ...now, state: 'stopped' }
      else setFault(faultOf(error))
    }
    cancelAnimationFrame(frame)
    if (under.current !== own) return
    // Without a head nothing was ever sent: the fault alone says what happened.
    setAnswer(now.begin === null ? null : now)
    setBusy(false)
  }, [])
  const stop = useCallback(() => under.current?.abort(), [])
  return { answer, fault, busy, send, stop }
}
