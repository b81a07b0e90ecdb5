import { type FormEvent, useEffect, useRef, useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { faultOf } from '../../client/fault.ts'
import { AuthFault, callAuth } from '../../client/http.ts'
import { Button } from '../../parts/index.ts'
import { refreshSession } from '../../session/session.ts'
import { TextField } from './text-field.tsx'

/** Name and password; the authenticator code only if the gateway requires it. */
export function PasswordForm() {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [waitSeconds, setWait] = useCountdown()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await callAuth('/auth/password', { name: name.trim(), password, ...(code === null ? {} : { code: code.trim() }) })
      await refreshSession()
    } catch (reason) {
      if (reason instanceof AuthFault && reason.code === 'code_required') setCode('')
      else setError(reason)
      if (reason instanceof AuthFault && reason.retryAfter !== null) setWait(reason.retryAfter)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form className="stack" onSubmit={(event) => void submit(event)}>
      <TextField label="Name" name="username" autoComplete="username webauthn" value={name} onType={setName} />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onType={setPassword}
      />
      {code === null ? null : <CodeField code={code} onType={setCode} />}
      {error === null ? null : <SignInFault error={error} waitSeconds={waitSeconds} />}
      <Button variant="primary" type="submit" busy={busy} disabled={waitSeconds > 0}>
        {waitSeconds > 0 ? `Wait ${waitSeconds} s` : 'Sign in'}
      </Button>
    </form>
  )
}

function CodeField({ code, onType }: { code: string; onType(code: string): void }) {
  const inputRef = useRef<HTMLInputElement>(null)
  useEffect(() => inputRef.current?.focus(), [])
  return (
    <TextField
      inputRef={inputRef}
      label="Authenticator code"
      name="code"
      autoComplete="one-time-code"
      inputMode="numeric"
      value={code}
      onType={onType}
    />
  )
}

export function SignInFault({ error, waitSeconds = 0 }: { error: unknown; waitSeconds?: number }) {
  const { message, hint } = faultOf(error)
  return (
    <div className="notice notice-bad" role="alert">
      <div>
        <p className="notice-title">{escapeControls(message)}</p>
        <p>{waitSeconds > 0 ? `Try again in ${waitSeconds} s.` : escapeControls(hint)}</p>
      </div>
    </div>
  )
}

/** Seconds that are left, and how to begin with some. */
export function useCountdown(): [left: number, begin: (seconds: number) => void] {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  return [left, (seconds) => setLeft(Math.ceil(seconds))]
}
