/** What can be wrong with the machine key or with a sealed value. `message` is the cause, `hint` what to do about it. */
export class SealError extends Error {
  readonly hint: string

  constructor(message: string, hint: string) {
    super(message)
    this.name = new.target.name
    this.hint = hint
  }
}

/** There is no key where one was expected. */
export class MachineKeyMissing extends SealError {}

/** Something stands where the key should, and this user may not read it: no reason to make a new one. */
export class MachineKeyUnreadable extends SealError {}

/** There is a key, but it is damaged, or not the one that this database was sealed with. */
export class MachineKeyWrong extends SealError {}

/** Other users of the machine can read the key. */
export class MachineKeyUnsafe extends SealError {}

/** A key was to be made where a file stands already. Nothing was changed. */
export class MachineKeyExists extends SealError {}

/** A sealed value does not open: changed, moved to another row, or sealed under a key that is not here. */
export class SealBroken extends SealError {}

/** The machine key of a cluster did not come through whole, or not from who invited. */
export class HandOverBroken extends SealError {}

/** Not a recovery key at all: its checksum is wrong. */
export class RecoveryKeyMistyped extends SealError {
  /** Wrong usage: another key was meant. */
  readonly exitStatus = 2
}

/** A recovery key, but not the one that this backup was made for. */
export class RecoveryKeyWrong extends SealError {
  readonly exitStatus = 5
}

/** What a backup says of its own key belongs to no key at all. */
export class EnvelopeBroken extends SealError {
  readonly exitStatus = 5
}

/** The machine key cannot be changed now. Nothing was changed. */
export class RotationRefused extends SealError {}
