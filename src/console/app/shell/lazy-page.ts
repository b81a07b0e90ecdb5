import { type ComponentType, createElement, type FunctionComponent } from 'react'

/** What is loaded by itself, when it is first shown or when the browser has nothing else to do. */
interface PagePart {
  preload(): Promise<void>
  forgetFailure(): void
}

const parts = new Set<PagePart>()

export type LazyComponent<Props> = FunctionComponent<Props> & { preload: () => Promise<void> }

/**
 * A part of the console with a script of its own. If the script cannot be loaded, the part's place shows the error:
 * the router's own helper would reload the window, and the console would be lost while the gateway is down.
 */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): LazyComponent<Props> {
  let component: ComponentType<Props> | null = null
  let failure: { error: unknown } | null = null
  let loading: Promise<void> | null = null
  const read = async () => {
    try {
      component = await load()
    } catch (error) {
      failure = { error }
    }
    loading = null
  }
  const preload = () => {
    if (component !== null) return Promise.resolve()
    failure = null
    loading ??= read()
    return loading
  }
  parts.add({
    preload,
    forgetFailure() {
      failure = null
    },
  })
  const draw = (props: Props) => {
    if (component !== null) return createElement(component, props)
    if (failure !== null) throw failure.error
    // React waits for it and draws again.
    throw preload()
  }
  return Object.assign(draw, { preload })
}

/** A page by the name under which its module exports it. */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
): LazyComponent<object> {
  return lazyPart(async () => (await load())[name])
}

/** Before what failed is drawn again. */
export function forgetFailedLoads(): void {
  for (const part of parts) part.forgetFailure()
}

/** Loads everything, one after another, so that each page opens at once and also while the gateway is away. */
export async function loadAllParts(): Promise<void> {
  for (const part of parts) await part.preload()
}
