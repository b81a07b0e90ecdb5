import { completeWord } from './complete-word.ts'

/** What each shell has to be told so that it asks spgw itself. Where nothing fits, files are offered. */
export const scripts = {
  bash: `# spgw completion bash
_spgw() {
  local value description
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]}" ${completeWord} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _spgw spgw
`,
  zsh: `#compdef spgw
# spgw completion zsh
_spgw() {
  local line value
  local -a found
  for line in "\${(@f)$("\${words[1]}" ${completeWord} "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    value="\${line%%$'\\t'*}"
    [[ -n $value ]] || continue
    value="\${value//:/\\\\:}"
    if [[ $line == *$'\\t'* ]]; then found+=("$value:\${line#*$'\\t'}"); else found+=("$value"); fi
  done
  if (( \${#found} )); then _describe spgw found; else _files; fi
}
compdef _spgw spgw
# Out of $fpath, zsh runs this file as the function itself, and the first time it has only been made.
if [[ $funcstack[1] == _spgw ]]; then _spgw "$@"; fi
`,
  fish: `# spgw completion fish
function __spgw_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (command $words[1] ${completeWord} $words[2..-1] 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c spgw -f -a '(__spgw_complete)'
`,
} as const
