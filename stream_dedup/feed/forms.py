"""Texts that are filled in like forms: forecasts, markets, results, and long notices in law."""

from stream_dedup.feed.grammar import Patterns, patterns
from stream_dedup.feed.names import EXCHANGE, RESULTS, WEATHER, Outlet

_FORECAST = patterns("""
- Forecast for {town} and [the coast|the valley|the hills around it], issued at {5-22} o'clock.
- [Fog|Cloud|Thin haze|Drizzle] until {8-12} in the morning, then [sunny spells|showers|broken
  cloud|steady rain from the west].
- Lowest temperature in the night {0-9} degrees, highest in the afternoon {10-27} degrees; at
  {500-1500} metres {0-15} degrees.
- Wind [light|moderate|fresh], from the [north|south|east|west], gusting to {20-90} kilometres an
  hour [on the ridges|in the passes|along the shore].
- Rain in 24 hours: {0-30}.{0-9} millimetres. Water temperature at the pier: {4-21}.{0-9} degrees.
  Sunrise at {5-7}.{10-59}, sunset at {17-21}.{10-59}.
- [Ferries may be late in the early hours|Roads may be slippery near {~town}|Gardeners should
  water in the evening|Walkers should keep off the mud flats until {8-11} o'clock].
- Outlook: [turning colder|little change|milder from {~day}|unsettled], with highs between {6-14}
  and {15-28} degrees. Pollen count: [low|moderate|high], mainly [birch|grass|hazel|alder].
- Warnings of frost, fog, storm and high water are given by telephone and on the notice boards of
  all town halls and harbours; what a warning means for fields, roads and boats is explained on
  the back of this sheet.
- The forecast is drawn up twice a day from the readings of {40-90} stations; it is correct to
  within {1-3} degrees on {7-9} days out of ten.
""")
_MARKET = patterns("""
- The Brenn index closed [up|down] {0-3}.{10-99} per cent at {3000-5200}.{10-99} points, on a
  turnover of {110-980} million crowns.
- {firm} led the gainers with plus {2-9}.{10-99} per cent, [after rumours of a bid|on good
  figures|without news], followed by {firm2}, plus {1-4}.{10-99}.
- At the foot of the table stood {firm3}, minus {2-9}.{10-99} per cent, after [a warning|a bank
  had cut its target|a dispute with {~town}].
- {20-60} shares rose, {20-60} fell and {2-19} were unchanged; {30000-900000} contracts changed
  hands.
- The crown was quoted at {7-11}.{1000-9999} to the dollar and {8-12}.{1000-9999} to the euro;
  ten-year bonds yielded {1-5}.{10-99} per cent.
- A barrel of oil cost {60-110}.{10-99} dollars, an ounce of gold {1900-4200}, a bushel of wheat
  {400-900} cents.
- Dealers spoke of [a quiet session|nervous trade|profit taking|an early weekend] and looked to
  [the figures on jobs|the central bank|the harvest report], due on {~day} at {9-16}.{10-59}.
- The index comprises the hundred largest companies by turnover and is worked out every minute
  between nine and half past five; dividends are taken as reinvested, and weights are reviewed at
  the end of each quarter.
- Prices are delayed by fifteen minutes. Figures for the previous session are given in brackets on
  page {20-60}.
""")
_RESULT = patterns("""
- {club} {0-5}, {club2} {0-4}. Half-time: {0-2}-{0-2}. Attendance: {900-30000}.
- Goals: {1-44} {~last}, {45-89} {~last}, {60-90} {~last} ([penalty|own goal|header]).
- {club} had [the better of the first half|most of the ball|the wind behind them], with {3-19}
  shots to {2-15} and {2-12} corners to {1-9}.
- The referee, {person} of {~town}, showed {1-7} yellow cards and [one red, to {~last}|none in
  red], and added {2-8} minutes.
- The coach of the home side, {person2}, spoke of [three points and nothing else|bad luck|a game
  for the archive|a result that flatters us].
- Spectators are reminded that the stands are cleared half an hour after the last whistle, that
  trams run until midnight on match days, and that lost umbrellas are kept at the gate for a week
  and then given away.
- In the table {club} are now [fourth|fifth|sixth|ninth], with {12-60} points from {14-33} games;
  {club2} have {9-55}.
- Next matches: {~day} at {14-20}.{10-59}, away to [{~town} Rovers|{~town} United]; at home to
  [{~town} Athletic|{~town} Borough], in {5-15} days.
- Teams, goal times and tables are taken from the league's official sheet, number {1000-9999}, and
  are subject to confirmation by the committee on results.
""")
_QUARTER = patterns("""
- {firm}, based in {town}, reported turnover of {20-900}.{0-9} million crowns for the
  [first|second|third|fourth] quarter, {1-19}.{0-9} per cent [more|less] than a year before.
- Net profit came to {1-90}.{0-9} million crowns, after {1-90}.{0-9} million. Earnings a share
  were {0-9}.{10-99} crowns.
- "[We are content|It was a demanding quarter|The year is young|Costs are under control]," said
  the head of finance, {person}.
- Orders in hand stood at {30-990} million crowns at the end of {~month}; {100-9000} people were
  employed, {1-300} [more|fewer] than at the start of the year.
- The board [keeps|raises|lowers] its forecast for the year, which sees growth of {1-12} per cent,
  and proposes a dividend of {0-9}.{10-99} crowns, to be paid on {1-28} {~month}.
- Debt was [reduced|increased] to {5-400}.{0-9} million crowns; the share of equity is {20-70} per
  cent.
- These figures follow the accounting rules of the province and leave out income from the sale of
  land, buildings and holdings; a table that leads from one set of figures to the other stands in
  the appendix.
- The full report is available from the company, and figures have not been audited. Shares were
  [up|down] {0-6}.{10-99} per cent in early trade in Brenn.
""")
FORMS: tuple[tuple[Outlet, Patterns], ...] = (
    (WEATHER, _FORECAST),
    (EXCHANGE, _MARKET),
    (RESULTS, _RESULT),
    (EXCHANGE, _QUARTER),
)

# What stands under every notice of the exchange, whatever it is about.
LEGAL = (
    "This notice is published under the rules of the Brenn Exchange and contains statements about "
    "the future, which are recognised by words such as expects, intends or plans. Such statements "
    "rest on what the management knows today and on assumptions that may turn out to be wrong. "
    "Nothing in this notice is an offer to sell or an invitation to buy shares, in this or in any "
    "other country, and nobody should decide anything because of it without having taken advice. "
    "The exchange has examined neither its truth nor its completeness and accepts no liability. "
    "Where this notice and its translations differ, the notice as first published holds. It may "
    "not be sent to countries whose law forbids it; whoever reads it must find that out alone."
)
NOTICES = patterns("""
- {firm} announces that {person} has [joined|left] its board as of {1-28} {~month}. {person!} [has
  worked in trade for {5-30} years|was head of sales in {~town}|is a/an {~trade} by training]. The
  board now has {4-11} members, of whom {1-3} were elected by the staff.
- {firm} has [acquired|sold] {3-49} per cent of {firm2} for {~crowns}. The seller is [a family
  from {~town}|a fund|the town of {~town}], and {200-900} people are employed. Payment is due in
  {2-9} instalments, the first on {1-28} {~month}.
- The annual meeting of {firm} will be held on {1-28} {~month} at {9-17} o'clock in the
  {~building} of {town}. Shareholders must register by post within {5-20} days. On the agenda: a
  dividend, a new auditor, and [the move to {~town}|the name of the company|a motion by {person}].
- {firm} recalls {3000-90000} [kettles|bicycle lamps|garden chairs|jars of mustard] made in {town}
  between {~month} and {~month}, because [a screw may come loose|the label names the wrong year].
  {2-40} cases are known; nobody was hurt. Buyers receive {5-90} crowns.
- {firm} has won an order from {~town} for {12-300} [trams|pumps|street lamps|windows], worth
  {~crowns}. Delivery begins in {~month} and takes {~spell}. {person} will lead the project;
  {20-300} people are to be hired in {town}.
""")
