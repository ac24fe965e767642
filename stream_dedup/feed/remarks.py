"""Sentences that fit any story, and those that outlets add of their own."""

from stream_dedup.feed.grammar import patterns

REMARKS = patterns("""
- "I would rather have read about it in the paper than seen it from my window," {person4}, a/an
  {~trade}, {~press}.
- The telephone at the town hall was engaged [for most of the day|until the exchange gave up].
- In {~town}, {12-90} kilometres away, something of the kind had happened {~spell} before, with [a
  better|no better] ending.
- Opinion in the cafés on {~street} was divided, as opinion there [usually is|has been since the
  war].
- {office3} asked for {3-20} days to study the matter and [for quiet while it does so|got five].
- {person5}, who chairs the local chamber of trade, spoke of "a lesson in
  [humility|arithmetic|patience]".
- Whoever wants to help is asked to come to {~street} on {~day} with [gloves|a spade|a sense of
  humour].
- A survey of {400-3000} people by {university3} had found {31-78} per cent in favour and the rest
  [at lunch|undecided].
- The minister, asked about it in the lobby, {~press} she would [read the report first|not be
  drawn].
- It has cost {~crowns} so far, and nobody expects that to be [the end of it|refunded].
- The weather did the rest: {3-40} millimetres of rain fell {~daytime}, and the wind
  [turned|dropped|rose].
- Photographs from {1920-1979}, which a/an {~trade} found in {~town}, show that [little has
  changed|it used to be worse].
- "Ask me again in {~month}," {person6} {~press}, and [closed the window|cycled off].
- On {~day} both sides are to meet in {~town}, [on neutral ground|with a mediator and {~food}].
- The figures were checked by {~last} and {~last}, accountants, who found them
  [correct|optimistic] to within {1-9} per cent.
- {person7}, who speaks for the province, {~press} the case was [being looked into|closed
  as far as the province was concerned].
- Nearly everyone here knows [someone who|a cousin who] was there, which makes the true number of
  {30-300} [hard to believe|seem small].
- Tourists from {~town} took pictures, bought {~food} and [asked whether it was a custom|stayed
  for a week].
- The parish priest rang the small bell, which is done [only for births and floods|when words
  fail].
- A fund set up by {~last} and Sons holds {~crowns}, and {20-400} people have [paid in|asked for
  forms].
- "We are {~mood}, but we are not surprised," {person8}, who lives opposite, {~press}.
- Insurance companies have sent {3-14} assessors, all of whom are staying at the same [inn|guest
  house on {~street}].
- There is talk of a plaque, of {~colour} enamel, and [less talk of who pays for it|of a song].
- Old people say it will snow when the {~bird}s fly low over {~river}; this year they [flew
  low|walked].
- Three questions remain, said {~outlet}, and [answered none of them|the third is who knew].
- The province counts {40-900} such cases a year, {2-9} times as many as in {1990-2015}, though
  the counting has [improved as well|changed hands].
- For {~day} evening a meeting has been called at the {~building}; there are {60-400} chairs.
- No one could be reached at {~firm}, where a recorded voice asked callers to [leave a number|have
  patience].
- A bus company offers tours at {9-45} crowns a head, {~food} included, and had to [turn people
  away|put on a second bus].
- At {~school} the lesson on {~day} was given over to it, and the {8-12}-year-olds [had the best
  ideas|voted by show of hands].
- "That is how one learns to read the small print," {person9}, a solicitor from {~town}, {~press}.
- In the archive of {~outlet} the word appears {2-60} times since {1890-1960}, mostly [in
  advertisements|in letters from the same reader].
- A/an {~trade} and a/an {~trade} have offered to mediate; both are known for [their
  patience|never having agreed].
- The lamp over the door burned all night, and somebody had set {~food} on the step.
- Deliveries for {~firm} were turned back at {~street} and reached their buyers [a day late|by
  boat].
- Whether the law of {1949-2012} applies is a question on which {university4} keeps {2-6}
  professors.
""")

HEADLINES = patterns("""
- What we know about {town}
- {town} in the news
- News from {town} and the region
- After {~day}: questions in {town}
- {town} is {~mood}
- {town}, the morning after
- In brief: {town}
""")

FOOTERS = patterns("""
- Reporting by {~first} {~last}; edited by {~first} {~last}.
- {~first} {~last} covers the region for {~outlet}. Letters to the editor are welcome.
- Read more on page {2-40}. Follow us wherever there is a kiosk.
- © {~outlet}. This text may be read aloud, but not reprinted, without our consent.
- Sign up for our evening letter: the day in {3-9} minutes, free of charge, at half past five.
- Have you seen something? Call our newsroom between {6-9} and {16-22} o'clock.
""")

ADDITIONS = patterns("""
- Our correspondent in {town} adds: the square was [empty|full] by the evening, and on {~street}
  a/an {~trade} was selling {~food} to the curious.
- For readers of {~outlet}: the number of the information desk is {200-999} {10-99} {10-99}, and
  it is manned until {7-10} o'clock tonight.
- {~outlet} has asked {person10}, a/an {~trade} of long standing, for an opinion. "[Wait and
  see|Too late, and too little|Better than nothing]," was the answer.
- Those who travel to {town} this week should allow {20-90} minutes more than usual, and bring [an
  umbrella|small change].
- See also our series on {~town}, {~town} and the valley between, in which we visit a/an
  {~building} each week.
""")
