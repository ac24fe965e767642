"""What happens and has consequences: crime, councils, transport, courts, fires, companies."""

from stream_dedup.feed.grammar import patterns
from stream_dedup.feed.topic import Topic

CRIME = Topic(
    headlines=patterns("""
- Police hunt thieves who took {loot:12-900} {goods} in {town}
- {loot:12-900} {goods} gone: who was in {town} that night?
- Mystery of the missing {goods}
"""),
    leads=patterns("""
- Police in {town} are looking for the people who took {loot:12-900} {goods} from a store on
  {street} {daytime} and left [nothing behind but a thermos flask|the doors neatly locked behind
  them].
- Somebody in or near {town} now owns {loot:12-900} {goods} that belong to {firm}, and detectives
  would [very much like to meet them|give a good deal to know who].
- A night watchman in {town} {~press} that he noticed nothing until the morning, by which time
  {loot:12-900} {goods} had left the warehouse of {firm} [through the roof|by the front gate].
"""),
    body=patterns("""
- Witnesses remember {~vehicle} [standing with its engine running|that circled the block three
  times] near {~street}, [though no two of them agree on the number plate|its lamps switched off].
- Inspector {person} {~press} the thieves had known [exactly what they wanted|the building well]
  and needed no more than {6-50} minutes.
- The loss is put at {~crowns}, of which the insurance will [carry about half|pay nothing until
  the inquiry is closed].
- A camera above the door of the bakery opposite shows [three figures in {~colour} overalls|one
  person with an umbrella], but the picture is [too grainy to be of use|being sharpened by
  specialists].
- {firm} has promised a reward of {5-90},000 crowns to anyone who helps to find the goods, [dead
  or alive, as its director put it|and {2-40} people called within a day].
- It is the {4-9}th such theft in the district since {~month}; in none of them was anyone hurt,
  and in only {1-2} was anything [recovered|returned, by post and without a note].
- "One does not sell {goods} at the kitchen door," {person2} of the dealers' association {~press}.
  "There must have been a buyer before there was a thief."
- Traces of {~colour} paint were found on the fence, and are now [in a laboratory in {~town}|being
  compared with those of {~vehicle} found in {~river}].
- Those who are offered {goods} cheaply are asked to call the station on {street2}, which is open
  [day and night|until ten, except on feast days].
- A/an {~trade} who walks a dog past the gate each evening was questioned for {2-7} hours and let
  go; he is said to be [a witness, not a suspect|{~mood}, and so is the dog].
"""),
)

COUNCIL = Topic(
    headlines=patterns("""
- {town} council votes on the future of the {building}
- Long night in {town} over the {building}
- {building} of {town}: a decision, at last
"""),
    leads=patterns("""
- By {ayes:12-29} votes to {3-11} the town council of {town} decided on {~day} to
  [sell|rebuild|close|let for ninety-nine years] the {building}, ending a quarrel that had lasted
  {~spell}.
- The {building} in {town} will [stay in public hands|get a glass roof|become flats and a small
  museum], the council agreed after a debate that ended {~daytime}.
- Councillors in {town} could not agree on {~day} whether the {building} is worth {~crowns}, and
  put off the vote [for the third time|until the mayor is back from his holiday].
"""),
    body=patterns("""
- The mayor, {person}, spoke of [a good day for the town|a compromise that pleases nobody
  equally]; the opposition left the chamber [singing|before the minutes were read].
- Repairs since {1950-2015} have cost {~crowns}, according to figures that {office} published
  [only last week|after a citizen had asked for them {2-9} times].
- A petition against the plan carried {900-8000} signatures, {20-90} of which turned out to be
  those of [the same {~trade}|people who died long ago].
- "We are not a museum of ourselves," {person2}, who sits for the [Farmers' List|Free
  Voters|Greens|Labour Alliance], {~press}.
- Parking will be moved to {street}, where residents are {~mood}: some {40-300} spaces are to make
  way for [trees|a tram stop|market stalls].
- The plan needs the consent of {office2}, which has {3-12} weeks to answer and [usually takes all
  of them|has never yet refused].
- Until then the doors stay open from {7-10} in the morning, and {the_many:30-400} clubs and
  choirs that meet there [keep their rooms|have been told to look elsewhere].
- An architect from {~town}, {person3}, won the competition with a drawing in {~colour} and
  {~colour} that the jury called [daring but dry|the only one with enough lavatories].
- The money comes from [a loan over {10-40} years|a legacy that the town had nearly forgotten|the
  sale of woodland near {~town}]; the rates remain [as they are|unchanged until {2027-2031}].
- In the public gallery sat {14-120} people, among them a/an {~trade} who has attended every
  meeting for {5-40} years and [knits|keeps a tally of interruptions].
"""),
)

TRANSPORT = Topic(
    headlines=patterns("""
- {town} to {town2} line shut for {~spell}
- Commuters between {town} and {town2} face a long summer
- New timetable, old trains: the {town} line
"""),
    leads=patterns("""
- Trains between {town} and {town2} will not run for {shut:3-30} days from {~day}, because the
  bridge over {river} needs [new bearings|a thorough look from below], the operator announced.
- Passengers from {town} to {town2} will change to buses for {shut:3-30} days: the old bridge over
  {river} has [moved by {2-9} centimetres|been hit by a barge].
- A crack no longer than a hand, in a bridge over {river}, has cut {town} off from {town2} and
  sent {2-19},000 commuters [looking for lifts|to the bus stops].
"""),
    body=patterns("""
- Replacement buses leave from {street} every {8-40} minutes and take [about twice as long as the
  train|a detour by way of {~town}].
- {union} warned that drivers are short already; {person}, its secretary, {~press} that {20-90}
  posts have been [empty since {~month}|promised and never filled].
- Season tickets are extended by {5-30} days, and anyone who travels to hospital may [take a taxi
  at the operator's expense|call a number that was engaged all morning].
- The bridge was built in {1868-1931} of {200-2900} tonnes of iron and was last painted in
  {1970-2010}, in the {~colour} that the town [still argues about|now regrets].
- Engineers from {university} fixed {8-64} sensors to the girders and saw them bend [more than the
  tables allow|like a fishing rod, as one of them put it].
- "I have taken the 6.{10-58} for {11-39} years and know everyone in my carriage," {person2}, a/an
  {~trade}, {~press}. "We shall have to [meet in a pub|write to each other]."
- Freight is sent round by {~town}, which adds {40-190} kilometres and {~crowns} a week, mostly
  for [timber|beer|steel|gravel].
- Shops at {town2} station expect to lose a third of their trade; the florist has already [given
  her tulips to the hospital|hung up a sign that says Back Soon].
- The operator had asked for {~crowns} to replace the bridge {4-12} years ago and received [a
  letter of sympathy|enough for the paint].
- Cyclists may use the towpath, says {office}, if they [push|ring at the bends|give way to
  anglers].
"""),
)

COURT = Topic(
    headlines=patterns("""
- {person} cleared of fraud by {town} court
- Court in {town}: {term:2-9} years for {trade}
- Judge in {town} has heard enough of the {trade}
"""),
    leads=patterns("""
- A court in {town} sentenced a/an {trade} to {term:2-9} years on {~day} for having sold {~goods}
  that [did not exist|belonged to his neighbours] to {30-400} customers in {~spell}.
- {person}, a/an {trade} from {town}, walked free on {~day} after the judges found that letters on
  which the whole case rested had been [typed on a machine not yet built|misfiled for {~spell}].
- The strangest trial in {town} for {~spell} ended on {~day} with [an apology|a settlement|a
  handshake] and a bill for {~crowns}.
"""),
    body=patterns("""
- The prosecution had called {11-70} witnesses, one of whom [fell asleep|brought a/an
  {~animal}|recognised the wrong man].
- {person2}, for the defence, {~press} that her client was "a dreamer with a receipt book, and
  dreaming is [not yet an offence|tax free]".
- Files in the case fill {30-210} boxes; the court rented a room at {~street} to [store|dry] them
  after a pipe had burst.
- The judge spoke for {20-95} minutes and [did not once raise his voice|quoted the poet {~last}
  twice].
- According to the charge {~crowns} went through {3-15} accounts in {~town}, {~town} and [on an
  island whose name nobody could spell|a place with more banks than houses].
- An appeal is possible within {10-30} days, and the defence {~press} that it would [use all of
  them|think it over during the holidays].
- {person3}, who lost her savings, sat in the first row every day and left [without a word|with a
  small smile] when it was over.
- Experts from {university} had needed {~spell} to [read the shredded ledgers|follow the money].
- The accused shook his head when a scale model of {~vehicle} was carried in, and
  [laughed|wept|asked whether he might keep it].
- Costs are borne by [the state|both sides|{firm}], which must also print the verdict in
  {~outlet}.
"""),
)

FIRE = Topic(
    headlines=patterns("""
- Fire guts {plant} in {town}, nobody hurt
- {plant} in {town} burns for {hours:5-31} hours
- Smoke over {town}: {people:40-900} leave their homes
"""),
    leads=patterns("""
- A fire that broke out {daytime} destroyed most of the {plant} in {town}; {people:40-900} people
  had to leave their homes, and [nobody was hurt|two firemen were treated for smoke].
- It took {crews:60-280} firefighters {hours:5-31} hours to put out the fire at the {plant} of
  {firm} in {town}, whose smoke [could be seen in {~town}|drifted over {river} until the morning].
- The {plant} on the edge of {town} is a shell after a fire that began {daytime} in [a drying
  room|the canteen|a heap of pallets].
"""),
    body=patterns("""
- "The heat cracked the windows across the street," {person}, who led the brigades, {~press}. "We
  kept it from [the tanks|the gas main|the nursing home], and that was the whole art."
- Water was pumped from {river} through {2-6} kilometres of hose, until [the pumps froze|the level
  fell by a hand's breadth].
- The cause is unknown; investigators with {~colour} lamps were [sifting the ashes|on the roof] on
  {~day} and would not be hurried.
- {firm} employs {90-800} people here, who will be paid until the end of {~month}, the director,
  {person2}, {~press}.
- Schools stayed shut, windows too; measurements of the air showed [nothing alarming|a little
  soot], said {office}.
- Neighbours brought {~food} and coffee to the cordon on {street}, and a/an {~trade} opened her
  [shop|garage|sauna] to those who were cold.
- {4-40} horses from the stables next door were led away in time and [grazed in the cemetery|spent
  the night on the football pitch].
- The oldest part dated from {1840-1920} and was listed; what is left of its [chimney|clock
  tower|brick vault] may have to come down.
- Damage is likely to exceed {~crowns}, the insurers said, [not counting lost orders|a figure that
  they called a first guess].
- In {1955-2009} there had been a fire on the same ground, and the plan drawn up after it [was
  followed to the letter|was found in a drawer].
"""),
)

BUSINESS = Topic(
    headlines=patterns("""
- {firm} to build {plant} in {town}
- {firm} moves {jobs:80-900} jobs to {town}
- {town} wins the {plant} that {town2} wanted
"""),
    leads=patterns("""
- {firm} will build a/an {plant} near {town} for {~crowns} and employ {jobs:80-900} people there
  from {~month}, the company said on {~day}, [ending months of rumours|to cheers from the town
  hall].
- The search is over: {firm} has chosen {town}, and not {town2}, for the {plant} in which
  {jobs:80-900} people are to work [in three shifts|by the end of the decade].
- {firm}, which a year ago [was close to bankruptcy|sold everything but its name], is to take over
  the {plant} of {town} and [keep|double] its staff of {jobs:80-900}.
"""),
    body=patterns("""
- "Water, rail and people who get up early" had settled it, {person}, who has run the firm since
  {2003-2024}, {~press}.
- The ground, {9-70} hectares of former [marsh|barracks|orchards], was sold at a price that both
  sides call [fair|a secret].
- In {town2}, which had offered [ten years free of rates|a motorway exit], the mayor was {~mood}:
  "They had our brochure for {~spell}."
- Shares of the firm rose by {2-9}.{1-9} per cent in Brenn, [then lost it all by the evening|the
  most since {~month}].
- {union} welcomed the news and asked for [a wage agreement before the first brick|a canteen that
  deserves the name].
- Some {20-60} per cent of the output is meant for export, above all of {~goods} and parts for
  them, by way of the harbour of {~town}.
- Naturalists point to a colony of {~bird}s on the site; the birds will be given [another
  pond|until {~month} to move], says {office}.
- Rents in the town have gone up by {4-19} per cent since the first rumours, a/an {~trade} on
  {street} {~press}; {person2} has [sold hers twice|bought a second van].
- Building is to begin in {~month}, unless [frost|the archaeologists|an appeal by the neighbours]
  should prevent it.
- The bank that lends half of the sum wanted [guarantees|a second opinion] and received both
  within {~spell}.
"""),
)

HARD_NEWS = (CRIME, COUNCIL, TRANSPORT, COURT, FIRE, BUSINESS)
