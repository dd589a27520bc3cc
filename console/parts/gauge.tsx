type Props = { readonly name: string; readonly used: number; readonly limit: number; readonly remark?: string }

export function Gauge({ name, used, limit, remark }: Props) {
  return (
    <div class="gauge">
      <span class="gauge-name">{name}</span>
      <meter aria-label={name} min={0} max={Math.max(limit, 1)} high={limit * 0.8} optimum={0} value={used} />
      <span class="number">
        {used.toLocaleString('en-US')} of {limit.toLocaleString('en-US')}
      </span>
      {remark && <span class="quiet">{remark}</span>}
    </div>
  )
}
