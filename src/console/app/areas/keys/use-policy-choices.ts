import { useQuery } from '@tanstack/react-query'
import { orpc } from '../../client/admin.ts'
import type { FieldChoice } from '../../parts/form-field.tsx'

/** The policies that a key can name, and first none; `none` is the word that takes it away. */
export function usePolicyChoices(none: '' | 'none'): readonly FieldChoice[] {
  const { data = [] } = useQuery(orpc.policies.list.queryOptions({ input: {} }))
  return [{ value: none, title: 'No policy of its own' }, ...data.map(({ name }) => ({ value: name, title: name }))]
}
