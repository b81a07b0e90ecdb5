import { Button, OperationButton, toastFault, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { Operator, OperatorLink } from '../outputs.ts'

interface OperatorButtonsProps {
  operator: Operator
  onRoles(): void
  onLink(made: OperatorLink): void
}

export function OperatorButtons({ operator: { name, state }, onRoles, onLink }: OperatorButtonsProps) {
  const { call, busy } = useOperation('operators.link')
  const may = useMay('operators.edit')
  const link = async () => {
    const made = await call({ name }).catch(toastFault)
    if (made !== null) onLink(made as OperatorLink)
  }
  if (!may) return null
  return (
    <>
      <Button small onClick={onRoles}>
        Roles
      </Button>
      {state === 'active' ? (
        <Button small busy={busy} onClick={() => void link()}>
          Sign-in link
        </Button>
      ) : null}
      {state === 'active' ? (
        <OperationButton
          small
          operation="operators.disable"
          input={{ name }}
          name={name}
          done={`Operator "${name}" disabled`}
        >
          Disable
        </OperationButton>
      ) : (
        <OperationButton
          small
          operation="operators.enable"
          input={{ name }}
          name={name}
          done={`Operator "${name}" enabled`}
        >
          Enable
        </OperationButton>
      )}
      <OperationButton
        small
        operation="operators.remove"
        input={{ name }}
        name={name}
        done={`Operator "${name}" removed`}
      >
        Remove
      </OperationButton>
    </>
  )
}
