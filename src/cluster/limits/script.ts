/**
 * The authority over shared limits, as a script in Valkey: only this script writes its keys, and one call is atomic. For each limit and
 * each bucket of 10 s of Valkey's time it knows each node's grants, and the share that each may use while it is cut off. Over all nodes,
 * shares and the grants of the last seven buckets never exceed the limit. A call states all of that for its node again, so lost calls and
 * replies need no repair. Decision 0066. `KEYS`: the state, then one key for each row. `ARGV[1]`: a `LimitCall` as JSON. It uses only what
 * Redis 7.0 has.
 */
const script = `
local buckets, bucketMs, silentMs, keepMs = 7, 10000, 3000, 300000
local call = cjson.decode(ARGV[1])
local clock = CLOCK
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function read(key)
  local text = redis.call('GET', key)
  if text then return cmsgpack.unpack(text) end
end

local state = read(KEYS[1])
local rows, lost = {}, false
for index, stated in ipairs(call.rows) do
  local row = read(KEYS[index + 1])
  -- A row that the node knows was not removed by this script.
  if not row and stated[6] == 1 then lost = true end
  rows[index] = row
end

-- Another server, another data set, or a clock that jumped: nothing that was granted before is known for certain.
local function isNew()
  if not state or state.run ~= call.run or call.epoch > state.epoch then return true end
  return call.epoch == state.epoch and (call.tag ~= state.tag or call.doubt or lost)
end
if isNew() then
  local first = math.floor(now / bucketMs)
  state = {
    epoch = math.max(state and state.epoch or 0, call.epoch) + 1, tag = call.run .. ':' .. now, run = call.run,
    bucket = first, open = false, opens = first + buckets + 1, nodes = {}, dead = {},
  }
end
local function reply(code, figures)
  redis.call('SET', KEYS[1], cmsgpack.pack(state))
  return { code, state.epoch, state.tag, now, state.open and 1 or 0, figures or {} }
end
if call.epoch ~= state.epoch then return reply(1) end

local bucket = math.max(state.bucket, math.floor(now / bucketMs), call.bucket)
state.bucket = bucket
if state.dead[call.life] then return reply(2) end
local own = state.nodes[call.node]
-- A node is absent in a bucket if it has acknowledged no reply younger than 3 s when that begins.
local function silentBuckets(node)
  if not node or not node.acked then return buckets end
  return bucket - math.floor((node.acked + silentMs) / bucketMs)
end
if not own or own.life ~= call.life then
  local before, since = own, silentBuckets(own)
  own = { life = call.life, number = 0, members = #call.members, even = before and before.even }
  if before then state.dead[before.life] = bucket end
  -- A life before may have used an even share until just now; so may one that this server never heard.
  if since >= buckets and not call.known then own.even = bucket + buckets - 1 end
  state.nodes[call.node] = own
end
if call.number <= own.number then return reply(3) end
own.number = call.number
own.members = #call.members
if call.whole then
  if call.ack > 0 then own.acked = call.ack end
  if call.known then own.stated = true end
end
for life, died in pairs(state.dead) do
  if bucket > died + 360 then state.dead[life] = nil end
end

local isMember, even, allStated = {}, {}, true
for _, id in ipairs(call.members) do
  isMember[id] = true
  local node = state.nodes[id]
  local members = node and node.members or #call.members
  if not node or not node.stated then allStated = false end
  if silentBuckets(node) >= 1 then even[#even + 1] = { id, members } end
  if node and node.even and node.even >= bucket then even[#even + 1] = { false, members } end
end
if not state.open and (allStated or bucket >= state.opens) then state.open = true end

local function held(entry)
  local sum = 0
  for place = 4, #entry do
    if entry[3] == 0 or entry[3] + place - 4 > bucket - buckets then sum = sum + entry[place] end
  end
  return sum
end
local function isOver(life, entry, slots)
  local node, died = state.nodes[entry[1]], state.dead[life]
  if not died then return not isMember[entry[1]] and silentBuckets(node) >= buckets end
  if slots then return node.acked ~= nil end
  return bucket >= died + buckets
end

local function answer(index, stated)
  local limit, slots, want, need, share = stated[1], stated[2] == 1, stated[3], stated[4], stated[5]
  local members = #call.members
  local leaves = share < 0
  if leaves then share = 0 end
  local row = rows[index]
  local entries = row and row.epoch == state.epoch and row.entries or {}
  local mine = { call.node, share, slots and 0 or bucket - buckets + 1 }
  if slots then mine[4] = stated[7]
  else
    for place = 0, buckets - 1 do mine[4 + place] = stated[7 + place + bucket - call.bucket] or 0 end
  end
  entries[call.life] = mine
  local charged, apart = 0, {}
  for life, entry in pairs(entries) do
    if life ~= call.life and isOver(life, entry, slots) then entries[life] = nil
    else
      charged = charged + held(entry) + entry[2]
      if not state.dead[life] then apart[entry[1]] = slots and held(entry) or entry[2] end
    end
  end
  for _, absent in ipairs(even) do
    local most = math.floor(limit / absent[2])
    charged = charged + math.max(0, most - (absent[1] and apart[absent[1]] or 0))
  end
  local room = math.max(0, limit - charged)
  local given = 0
  if state.open and want > 0 then
    given = math.min(math.max(want, math.floor(room / (4 * members))), math.floor(room / members))
    if given < need then given = need <= room and need or 0 end
  end
  -- In how many buckets there is room for what was needed, if nobody takes it before: what leaves the window then.
  local frees = 0
  if state.open and not slots and given < need then
    local left = room
    for ahead = 1, buckets do
      for _, entry in pairs(entries) do left = left + (entry[4 + bucket - buckets + ahead - entry[3]] or 0) end
      if left >= need then frees = ahead break end
    end
  end
  room = room - given
  local offered = share
  if state.open and not slots and not leaves then
    local rest = room + share
    offered = math.min(math.floor(limit / members), math.floor(rest / (2 * members)))
    if offered == 0 and rest >= members and limit >= members then offered = 1 end
  end
  mine[2] = math.max(share, offered)
  mine[#mine] = mine[#mine] + given
  if held(mine) + mine[2] == 0 then entries[call.life] = nil end
  if next(entries) == nil then redis.call('DEL', KEYS[index + 1])
  else redis.call('SET', KEYS[index + 1], cmsgpack.pack({ epoch = state.epoch, entries = entries }), 'PX', keepMs) end
  return { given, offered, room, frees }
end
local figures = {}
for index, stated in ipairs(call.rows) do figures[index] = answer(index, stated) end
return reply(0, figures)
`

/** `clock`: a Lua expression for seconds and microseconds; only a test uses another one. */
export function limitScript(clock = "redis.call('TIME')"): string {
  return script.replace('CLOCK', clock)
}
