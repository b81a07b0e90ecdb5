import type { ReactNode, RefObject } from 'react'

export interface ScrollRegionProps {
  label: string
  scrollRef?: RefObject<HTMLElement | null>
  children: ReactNode
}

/** A scrolling area. It must be focusable, or keyboard users cannot scroll it. */
export function ScrollRegion({ label, scrollRef, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG asks for it (axe: scrollable-region-focusable).
    <section className="table-scroll" aria-label={label} tabIndex={0} {...(scrollRef && { ref: scrollRef })}>
      {children}
    </section>
  )
}
