import { useQuery } from '@tanstack/react-query'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { callAuth } from '../../client/http.ts'
import { QueryFault, RecordView } from '../../parts/index.ts'
import { useRoles, useSession } from '../../session/session.ts'
import { Loading, Page } from '../../shell/page.tsx'
import { type AccountState, accountKey } from './account.ts'
import { PasskeysCard } from './passkeys-card.tsx'
import { PasswordCard } from './password-card.tsx'
import { SessionsCard } from './sessions-card.tsx'
import { TotpCard } from './totp-card.tsx'

/** One's own ways in. */
export function AccountPage() {
  const { data: session } = useSession()
  const roles = useRoles()
  const account = useQuery({ queryKey: accountKey, queryFn: () => callAuth<AccountState>('/auth/account') })
  const operator = session?.operator
  return (
    <Page title="Account">
      <div className="stack narrow">
        <RecordView
          entries={[
            { label: 'Name', value: escapeControls(operator?.name ?? '') },
            { label: 'Display name', value: escapeControls(operator?.display_name ?? '') },
            { label: 'Roles', value: escapeControls(roles) },
          ]}
        />
        <QueryFault of={account} />
        {account.data === undefined ? (
          account.isPending && <Loading />
        ) : (
          <>
            {account.data.oidc ? (
              <p className="notice">
                You sign in through {escapeControls(account.data.oidc)}. Change your password there, and add passkeys
                there.
              </p>
            ) : (
              <>
                <PasswordCard account={account.data} />
                <TotpCard account={account.data} />
              </>
            )}
            {account.data.oidc && account.data.passkeys.length === 0 ? null : (
              <PasskeysCard account={account.data} refused={session?.passkey_refused ?? null} />
            )}
            <SessionsCard account={account.data} />
          </>
        )}
      </div>
    </Page>
  )
}
