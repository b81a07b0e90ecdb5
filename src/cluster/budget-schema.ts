/** Begins the message about a budget without room; ` period counter` follows. Texts too long for a notification are not sent. */
export const recallWord = 'recall'

/**
 * Which node was given how much of which budget (`budgets.ts`). A node's asks are one sorted statement, so that two nodes never deadlock. A
 * failover may lose the latest allowances: afterwards nothing is given until all members have reported theirs, or for ten minutes.
 * `timeline.settled` is the timeline for which that is done.
 */
export const createBudgets = `
create table spgw.budgets (
  counter text, period text, most bigint, sequence bigint not null, ends timestamptz not null,
  recalled timestamptz not null default '-infinity', primary key (counter, period));
create table spgw.allowances (
  counter text, period text, member text, incarnation text not null, number bigint not null, given bigint not null,
  spent bigint not null, rate double precision not null, begins timestamptz not null, ends timestamptz not null,
  primary key (counter, period, member));
create index allowances_member on spgw.allowances (member);
create table spgw.timeline (settled text not null, seen text not null, since timestamptz not null);
alter table spgw.members add declared text;

create function spgw.timeline_name() returns text language sql as $$
  select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) from pg_control_system()
$$;
insert into spgw.timeline select t, t, now() from spgw.timeline_name() t;

create function spgw.allow(by text, life text, complete boolean, asks jsonb) returns jsonb language plpgsql as $$
declare
  here text := spgw.timeline_name();
  t spgw.timeline; a record; b spgw.budgets; own spgw.allowances; others record;
  moment timestamptz := now(); members integer; room numeric; share numeric; chunk numeric; more bigint; rates numeric;
  replies jsonb := '[]';
begin
  -- Locked, so that no later life of this node is here before this statement is over.
  perform from spgw.members m where m.id = by and m.incarnation = life for share;
  if not found then return jsonb_build_object('member', false); end if;
  select count(*) into members from spgw.members;
  select * into t from spgw.timeline;
  if t.settled <> here then
    select * into t from spgw.timeline for update;
    if t.seen <> here then
      update spgw.timeline set seen = here, since = moment returning * into t;
    end if;
  end if;
  for a in select * from jsonb_to_recordset(asks) as r(
    counter text, period text, start bigint, "end" bigint, most bigint, sequence bigint, number bigint, holds bigint,
    spent bigint, rate double precision, need bigint, more boolean) order by r.counter, r.period
  loop
    insert into spgw.budgets (counter, period, sequence, ends)
      values (a.counter, a.period, 0, to_timestamp(a."end" / 1000.0)) on conflict do nothing;
    select * into b from spgw.budgets x where x.counter = a.counter and x.period = a.period for update;
    if a.most is not null and a.sequence >= b.sequence and (b.most, b.sequence) is distinct from (a.most, a.sequence) then
      update spgw.budgets x set most = a.most, sequence = a.sequence
        where x.counter = a.counter and x.period = a.period returning * into b;
    end if;
    select * into own from spgw.allowances x where x.counter = a.counter and x.period = a.period and x.member = by;
    -- Of two asks of one life the later one holds, whichever comes last.
    continue when found and own.incarnation = life and a.number <= own.number;
    select coalesce(sum(x.given), 0) as given, coalesce(sum(x.spent), 0) as spent, coalesce(sum(x.rate), 0) as rate
      into others from spgw.allowances x where x.counter = a.counter and x.period = a.period and x.member <> by;
    room := greatest(0, coalesce(b.most, 0) - others.given - a.holds);
    more := 0;
    if a.more and t.settled = here and b.most is not null
      and moment >= to_timestamp(a.start / 1000.0) - interval '15 minutes' and moment < to_timestamp(a."end" / 1000.0)
    then
      rates := others.rate + a.rate;
      share := case when rates = 0 then 1.0 / members else (a.rate + rates / members / 4) / (rates * 1.25) end;
      chunk := least(greatest(room * share / 4, a.rate * 900), room * share * 3 / 4);
      more := least(room, greatest(a.need, floor(chunk)));
    end if;
    insert into spgw.allowances as x
      values (a.counter, a.period, by, life, a.number, a.holds + more, a.spent, a.rate,
        to_timestamp(a.start / 1000.0), to_timestamp(a."end" / 1000.0))
      on conflict (counter, period, member) do update set incarnation = life, number = excluded.number,
        given = excluded.given, spent = excluded.spent, rate = excluded.rate;
    if a.need > more and others.given > others.spent and b.recalled < moment - interval '100 milliseconds'
      and octet_length(a.counter) < 7000
    then
      update spgw.budgets x set recalled = moment where x.counter = a.counter and x.period = a.period;
      perform pg_notify('spgw', '${recallWord} ' || a.period || ' ' || a.counter);
    end if;
    replies := replies || jsonb_build_object('counter', a.counter, 'period', a.period, 'number', a.number,
      'given', a.holds + more, 'spent', others.spent, 'held', greatest(0, others.given - others.spent),
      'room', greatest(0, room - more));
  end loop;
  if complete then update spgw.members set declared = here where id = by and declared is distinct from here; end if;
  if t.settled <> here and (moment > t.since + interval '10 minutes'
    or not exists (select from spgw.members m where m.declared is distinct from here))
  then update spgw.timeline set settled = here; end if;
  return jsonb_build_object('member', true, 'now', floor(extract(epoch from clock_timestamp()) * 1000), 'replies', replies);
end $$;
`
