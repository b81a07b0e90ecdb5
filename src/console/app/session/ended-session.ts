import { useSyncExternalStore } from 'react'
import { callAuth } from '../client/http.ts'
import { queries, refreshMissed, sessionKey } from '../client/queries.ts'

/** The form in which somebody typed last. */
let typed: Element | null = null
let ended = false
const listeners = new Set<() => void>()

export function rememberTyping({ target }: Event): void {
  if (target instanceof Element) typed = target.closest('form') ?? typed
}

/** A call was rejected for want of a session. Unless a form would lose what was typed, the page asks to sign in. */
export function endSession(): void {
  const hasForm = typed?.isConnected === true
  setEnded(hasForm)
  if (!hasForm) void queries.invalidateQueries({ queryKey: sessionKey })
}

/** Whether the session has ended and the page stays for the sake of a form. */
export function useEndedSession(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => ended,
  )
}

/** Somebody may have signed in in another tab. `then` runs if it is who was signed in here. */
export async function resumeSession(then: () => void): Promise<void> {
  const known = queries.getQueryData<{ operator: { id: string } | null }>(sessionKey)?.operator?.id
  const { operator } = await callAuth<{ operator: { id: string } | null }>('/auth/state')
  if (operator === null) return
  // What is on the page was read as another.
  if (operator.id !== known) return location.reload()
  setEnded(false)
  then()
  void refreshMissed()
}

function setEnded(to: boolean): void {
  ended = to
  for (const listener of listeners) listener()
}
