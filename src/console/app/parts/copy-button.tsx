import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, type ButtonVariant } from './button.tsx'
import { toast } from './toast-store.ts'

const shownMs = 1500

export interface CopyButtonProps {
  text: string
  label?: string
  variant?: ButtonVariant
  small?: boolean
  /** The icon alone. */
  bare?: boolean
  /** Shows but its first word, where there is no room for what it copies. */
  brief?: boolean
}

export function CopyButton(props: CopyButtonProps) {
  const { text, label = 'Copy', variant = 'plain', small = true, bare = false, brief = false } = props
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), shownMs)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    try {
      await copyText(text)
      setCopied(true)
    } catch {
      toast({ tone: 'bad', title: 'The browser blocked copying', text: 'Select the text and copy it by hand.' })
    }
  }
  const icon = copied ? <Check size={14} aria-hidden="true" /> : <Copy size={14} aria-hidden="true" />
  return (
    <Button
      variant={bare ? 'quiet' : variant}
      small={small}
      icon={icon}
      onClick={() => void copy()}
      className={bare ? 'icon-button' : ''}
      aria-label={copied ? 'Copied' : label}
    >
      {bare ? null : <span aria-live="polite">{copied ? 'Copied' : brief ? 'Copy' : label}</span>}
    </Button>
  )
}

/** Off https and localhost a browser has no clipboard for pages, but lets them copy what is selected. */
async function copyText(text: string): Promise<void> {
  if (isSecureContext) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (!done) throw new Error('the browser refused to copy')
}
