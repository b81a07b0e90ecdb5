import { type InputHTMLAttributes, type Ref, useId } from 'react'

type TextFieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: string
  hint?: string
  value: string
  onType(text: string): void
  inputRef?: Ref<HTMLInputElement>
}

/** A labelled line of text, for what is no operation's input. */
export function TextField({ label, hint, onType, inputRef, ...rest }: TextFieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...rest}
        ref={inputRef}
        id={id}
        className="input"
        required
        spellCheck={false}
        autoCapitalize="none"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onType(event.target.value)}
      />
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="field-hint small quiet">
          {hint}
        </p>
      )}
    </div>
  )
}
