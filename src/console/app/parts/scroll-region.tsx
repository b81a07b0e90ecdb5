import type { ReactNode, RefObject } from 'react'

export interface ScrollRegionProps {
  label: string
  place?: RefObject<HTMLElement | null>
  children: ReactNode
}

/** What scrolls by itself. The keyboard must reach it, or nobody without a mouse sees the rest. */
export function ScrollRegion({ label, place, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG asks for it (axe: scrollable-region-focusable).
    <section className="table-scroll" aria-label={label} tabIndex={0} {...(place && { ref: place })}>
      {children}
    </section>
  )
}
