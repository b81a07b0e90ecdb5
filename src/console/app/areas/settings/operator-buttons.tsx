import { Button, OperationButton, toastFault, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import type { Operator, OperatorLink } from '../outputs.ts'
import { isLastOwner, lastOwner } from '../removal-refusal.ts'

interface OperatorButtonsProps {
  operator: Operator
  /** All of them. */
  operators: readonly Operator[]
  onRoles(operator: Operator): void
  onLink(made: OperatorLink): void
}

export function OperatorButtons({ operator, operators, onRoles, onLink }: OperatorButtonsProps) {
  const { name, state } = operator
  const { call, busy } = useOperation('operators.link')
  const may = useMay('operators.edit')
  const link = async () => {
    const made = await call({ name }).catch(toastFault)
    if (made !== null) onLink(made as OperatorLink)
  }
  if (!may) return null
  const refused = isLastOwner(name, operators) ? { refusal: <p>{lastOwner(name)}</p> } : {}
  return (
    <>
      <Button small onClick={() => onRoles(operator)}>
        Roles
      </Button>
      {state === 'active' ? (
        <Button small busy={busy} onClick={() => void link()}>
          Sign-in link
        </Button>
      ) : null}
      {state === 'active' ? (
        <OperationButton
          key="disable"
          small
          operation="operators.disable"
          input={{ name }}
          name={name}
          done={`Operator "${name}" disabled`}
          {...refused}
        >
          Disable
        </OperationButton>
      ) : (
        <OperationButton
          key="enable"
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
        {...refused}
      >
        Remove
      </OperationButton>
    </>
  )
}
