import { type FormEvent, useState } from 'react'
import { Button } from '../../parts/index.ts'
import { TextField } from '../sign-in/text-field.tsx'
import { type AccountState, useAccountCall } from './account.ts'

export function PasswordCard({ account }: { account: AccountState }) {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const { busy, send } = useAccountCall()
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const body = account.has_password && current !== '' ? { current, next } : { next }
    const answer = await send('/auth/account/password', body, 'Password changed. Your other sessions were signed out.')
    if (answer === null) return
    setCurrent('')
    setNext('')
  }
  return (
    <section className="card">
      <h2 className="card-head">Password</h2>
      <form className="form stack" onSubmit={(event) => void submit(event)}>
        {account.has_password ? (
          <TextField
            label="Current password"
            hint="Not required within 15 minutes of signing in with a link."
            type="password"
            autoComplete="current-password"
            required={false}
            value={current}
            onType={setCurrent}
          />
        ) : null}
        <TextField
          label="New password"
          hint="At least 12 characters. A passphrase is easier to remember."
          type="password"
          autoComplete="new-password"
          value={next}
          onType={setNext}
        />
        <div>
          <Button variant="primary" type="submit" busy={busy}>
            {account.has_password ? 'Change password' : 'Set password'}
          </Button>
        </div>
      </form>
    </section>
  )
}
