import { useNavigate, useSearch } from '@tanstack/react-router'
import { textIn } from './address.ts'

/** Which dialog of a page is open. It is part of the address (`?do=rotate`), so that a link and the search can open it. */
export function usePanel<Name extends string>(
  names: readonly Name[],
): [panel: Name | null, set: (panel: Name | null) => void] {
  const { do: word }: { do?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = (panel: Name | null) =>
    void navigate({ to: '.', search: (before) => ({ ...before, do: panel ?? undefined }), replace: true })
  return [names.find((name) => name === word) ?? null, set]
}

export function readPanel(search: Record<string, unknown>): { do?: string } {
  return textIn(search, 'do')
}
