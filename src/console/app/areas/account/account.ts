import { useState } from 'react'
import { describeMissing } from '../../../../admin/contract/show-reach.ts'
import { callAuth } from '../../client/http.ts'
import { queries } from '../../client/queries.ts'
import { toast, toastFault } from '../../parts/index.ts'

/** `GET /auth/account` */
export interface AccountState {
  has_password: boolean
  totp: boolean
  /** The issuer, if the operator signs in with an identity provider. */
  oidc?: string | null
  passkeys: { id: string; name: string; created_at: string; last_used_at: string | null }[]
  sessions: {
    id: string
    current: boolean
    method?: string
    created_at?: string
    last_seen_at?: string
    address?: string | null
    user_agent?: string | null
  }[]
}

export const accountKey = ['account'] as const

export interface AccountCall {
  busy: boolean
  /** Gives the answer; null: it failed, and a toast has said why. */
  send<Answer>(path: string, body: object, done?: string): Promise<Answer | null>
}

/** Changes one's own account, then reads it again. */
export function useAccountCall(): AccountCall {
  const [busy, setBusy] = useState(false)
  const send = async <Answer>(path: string, body: object, done?: string): Promise<Answer | null> => {
    setBusy(true)
    try {
      const answer = await callAuth<Answer>(path, body)
      if (done !== undefined) toast({ tone: 'good', title: done })
      const missing = describeMissing(path, answer)
      if (missing !== null) toast({ tone: 'bad', title: 'Other nodes', text: missing })
      await queries.invalidateQueries({ queryKey: accountKey })
      return answer
    } catch (error) {
      toastFault(error)
      return null
    } finally {
      setBusy(false)
    }
  }
  return { busy, send }
}
