import { type FormEvent, useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { queries } from '../../client/queries.ts'
import { Button, Time, toast, toastFault, UntrustedText } from '../../parts/index.ts'
import { addPasskey } from '../sign-in/passkey.ts'
import { TextField } from '../sign-in/text-field.tsx'
import { type AccountState, accountKey, useAccountCall } from './account.ts'

export function PasskeysCard({ account, refused }: { account: AccountState; refused: string | null }) {
  const [name, setName] = useState('')
  const [adding, setAdding] = useState(false)
  const { busy, send } = useAccountCall()
  const add = async (event: FormEvent) => {
    event.preventDefault()
    setAdding(true)
    try {
      await addPasskey(name.trim())
      setName('')
      toast({ tone: 'good', title: 'Passkey added' })
      await queries.invalidateQueries({ queryKey: accountKey })
    } catch (error) {
      toastFault(error)
    } finally {
      setAdding(false)
    }
  }
  return (
    <section className="card stack">
      <h2>Passkeys</h2>
      {account.passkeys.length === 0 ? (
        <p className="quiet">Sign in with your fingerprint, face or PIN. A passkey cannot be guessed or phished.</p>
      ) : (
        <ul className="list">
          {account.passkeys.map((passkey) => (
            <li key={passkey.id} className="list-row">
              <span className="grow">
                <UntrustedText text={passkey.name} />
              </span>
              <span className="small quiet">
                Last used <Time at={passkey.last_used_at} />
              </span>
              <Button
                small
                variant="danger"
                busy={busy}
                onClick={() => void send('/auth/account/passkeys/remove', { id: passkey.id }, 'Passkey removed')}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {refused ? <p className="notice notice-warning">{refused}</p> : null}
      {account.oidc ? (
        <p className="notice notice-warning">You sign in through {escapeControls(account.oidc)}.</p>
      ) : null}
      {refused || account.oidc ? null : (
        <form className="form stack" onSubmit={(event) => void add(event)}>
          <TextField label="Passkey name" hint="For example, the device it is on" value={name} onType={setName} />
          <div>
            <Button type="submit" busy={adding}>
              Add passkey
            </Button>
          </div>
        </form>
      )}
    </section>
  )
}
