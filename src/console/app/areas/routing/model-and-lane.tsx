import { useId } from 'react'
import { type LaneName, laneNames } from '../../../../core/lane.ts'

export interface ModelAndLaneProps {
  model: string
  /** '': the gateway chooses it by the route's targets. */
  lane: LaneName | ''
  /** Something else of the form says it already, so it cannot be changed here. */
  isModelGiven?: boolean
  isLaneGiven?: boolean
  onModel(model: string): void
  onLane(lane: LaneName | ''): void
}

export function ModelAndLane({ model, lane, isModelGiven, isLaneGiven, onModel, onLane }: ModelAndLaneProps) {
  const id = useId()
  return (
    <div className="field-pair">
      <div className="field">
        <label htmlFor={`${id}-model`}>Model</label>
        <input
          id={`${id}-model`}
          className="input"
          value={model}
          disabled={isModelGiven === true}
          onChange={(event) => onModel(event.target.value)}
        />
      </div>
      <div className="field">
        <label htmlFor={`${id}-lane`}>Lane</label>
        <select
          id={`${id}-lane`}
          className="input"
          value={lane}
          disabled={isLaneGiven === true}
          onChange={(event) => onLane(event.target.value as LaneName | '')}
        >
          <option value="">Automatic</option>
          {laneNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
    </div>
  )
}
