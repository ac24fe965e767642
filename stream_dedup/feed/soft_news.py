"""What happens and is pleasant to read: science, culture, sport, farming, health, animals."""

from stream_dedup.feed.grammar import patterns
from stream_dedup.feed.topic import Topic

SCIENCE = Topic(
    headlines=patterns("""
- What {university} found at the bottom of {river}
- {town} researchers read {age:300-9000} years in the mud
- A/an {~trade}, a drill and {age:300-9000} years of weather
"""),
    leads=patterns("""
- Researchers from {university} have drawn a core of mud {4-30} metres long from the bed of
  {river}, in which the weather of {age:300-9000} years can be read [like the pages of a
  diary|layer by layer].
- The winters around {town} were [milder|far harsher] {age:300-9000} years ago than anyone had
  thought, say scientists who have counted [pollen|the rings of drowned oaks|snail shells] for
  {~spell}.
- What lies under {river} near {town} has surprised even those who were looking for it:
  [seeds|ash|salt] from {age:300-9000} years ago, [as fresh as yesterday|in perfect order].
"""),
    body=patterns("""
- "You hold a summer between two fingers, and it smells of [tar|ponds|cellars]," {person}, who
  leads the work, {~press}.
- Each layer is {1-9} tenths of a millimetre thick; the team photographed {3000-90000} of them
  [twice|under {~colour} light].
- The work has been printed in a journal that [seldom agrees with anyone|took {~spell} to check
  it].
- A group at {university2} had come to the opposite result in {2009-2023} and now {~press} that
  both could be right, [each in its own valley|if one looks at the springs].
- The boat from which they drilled, a former [ferry|oyster dredger], broke down {3-9} times and
  was towed by a/an {~trade} who [would take no money|has been made a doctor for a day].
- Money came from {office}, which hopes to learn [where not to build|how high dykes should be],
  and from the will of a/an {~trade}.
- Beside the pollen lay [a child's shoe|{2-30} bronze needles|a comb of bone], which will be shown
  in {town} from {~month}.
- Next they will go to a lake near {~town}, where the mud is said to be [twice as deep|blacker
  still].
- "It does not tell us what comes. It tells us what is possible," {person2}, who was not part of
  the team, {~press}.
- Students did most of the counting, for {14-30} crowns an hour and {~food} [at midnight|on
  Fridays].
"""),
)

CULTURE = Topic(
    headlines=patterns("""
- {town} festival opens with a/an {instrument} and rain
- Lost score for {instrument} heard in {town}
- {visitors:2-60},000 expected at {town} festival
"""),
    leads=patterns("""
- The festival of {town} opened on {~day} with a concert for {instrument} in the {building}, to
  which {visitors:2-60},000 people [had wanted tickets|listened in the rain].
- A piece for {instrument} by {composer}, believed lost since {1790-1930}, was heard in {town} on
  {~day} [for the first time|by {200-900} people who held their breath].
- For {~spell} {town} has been without its festival; on {~day} it came back, in the {building},
  with a/an {instrument}, [a power cut|two encores] and {visitors:2-60},000 visitors.
"""),
    body=patterns("""
- {person}, who [learnt to play on a borrowed instrument|gave up medicine for music], took the
  slow movement at a walking pace and was called back {3-8} times.
- The notes had lain in [a hymn book|a box of {~goods}|the attic of a/an {~trade}] and were found
  by chance when the roof was mended.
- "There are {2-5} bars in which nothing happens at all, and those are the best," the conductor,
  {person2}, {~press}.
- Critics were divided: {~outlet} heard [a masterpiece|weather, mostly], {~outlet} [an evening too
  long|the finest thing since the fire].
- Tickets cost between {8-20} and {40-160} crowns, and anyone under {16-27} [gets in for
  nothing|may stand].
- Until {~day} there are {20-90} more events, among them a night of puppets, a lecture on
  [bells|silence|early radio] and a dance for those over {60-80}.
- The cellar of the {building2} serves {~food}, of which {300-2900} portions were [gone by
  nine|sold on the first day].
- A sculpture of {~colour} wire by {person3} has been hung over {street}, where [pigeons have
  taken to it|lorries must now go slowly].
- The town pays {~crowns}, the rest comes from {firm}, whose name is printed [rather large|on
  every cup].
- Rain on the tin roof came in exactly on the beat, said a listener, a/an {~trade}, who has
  [missed none of {10-40} festivals|never been before].
"""),
)

SPORT = Topic(
    headlines=patterns("""
- {person} leaves {club} after {years:2-19} years
- {club} find a coach in their own ranks
- {club} and the {trade} who saved them
"""),
    leads=patterns("""
- {club} have parted with their coach {person} after {years:2-19} years and name as his successor
  a former {trade} who [used to mow the pitch|has never lost at home].
- {person}, for {years:2-19} years the face of {club}, will not [play|coach] another season, and
  told the supporters so [in a letter|from the roof of the bus].
- With {years:2-19} years of debts and {11-16} fit players, {club} did on {~day} what nobody had
  expected of them, and [stayed up|won the cup].
"""),
    body=patterns("""
- The chairman, {person2}, {~press} that the decision had been made [over {~food}|at three in the
  morning] and hurt everyone in the room.
- In {~month} the team had lost {3-8} games in a row, one of them by {4-9} goals to [nil|one], at
  home and [in fog|against amateurs].
- Supporters hung a banner of {20-90} metres from {~street} to the ground: "[Thank you for
  Saturday|Come back when you like|We were there]."
- Training now begins at {6-9} in the morning, with [swimming in {river}|an hour of chess], and
  telephones stay in a bucket.
- The striker {person3}, who scored {9-31} times last season, has a [knee|toe|shoulder] that needs
  {~spell}.
- {club2} are said to have offered {~crowns} for the goalkeeper, a sum that [made the treasurer
  sit down|would pay for a new stand].
- Women's football gains by it: the second pitch, so far a car park, gets [grass|lights|both] by
  {~month}.
- A man of {60-95} who has kept the gate since {1958-1990} {~press} that he had seen
  [worse|taller] coaches come and go.
- On the wall of the changing room somebody has written [the table of {1961-1999}|a poem] in
  {~colour} chalk.
- The stadium on {street} holds {3-24} thousand, and {400-2900} season tickets went [within an
  hour|on the first day of sale].
"""),
)

FARMING = Topic(
    headlines=patterns("""
- Too many {crop} around {town}
- Frost takes {lost:20-90} per cent of the {crop} in {town}
- Farmers of {town} pour out their {crop}
"""),
    leads=patterns("""
- Farmers around {town} expect to lose {lost:20-90} per cent of their {crop} after [the late
  frost|{~spell} without rain|a plague of {~bird}s], and ask for help [before the summer|by return
  of post].
- Never since {1947-1999} have there been so many {crop} around {town}, and never have they been
  [worth so little|so small].
- A/an {trade} from {town} has bred {crop} that [need next to no water|ripen in {~month}], and
  {lost:20-90} growers are to try them this year.
"""),
    body=patterns("""
- A hundredweight fetches {4-60} crowns at the market in {~town}, against {61-140} [last year|in
  the week before Easter].
- "My grandfather would have ploughed them under and said nothing," {person}, who farms {20-300}
  hectares, {~press}. "I [write to the minister|sing to them]."
- {office} has {~crowns} in its fund for hard years, of which {10-90} per cent [is spent|went on
  hail in {~month}].
- Candles burned between the rows for {3-12} nights, {200-900} of them to a hectare, and [saved
  the slopes|were stolen on the third].
- Cider makers and jam kitchens take what they can; {firm} has put on [a night shift|{4-40} more
  people] and buys from {~day}.
- Bees were out for only {2-9} days, says {person2}, a beekeeper with {20-180} hives, who [feeds
  sugar|blames the wind].
- In the cold store at {~town} {100-4000} tonnes wait for a buyer, next to a hall full of {~food}.
- Young growers would rather plant {~crop} and {~crop}, which [hardly pay either|do not mind wet
  feet].
- On {~day} {40-190} tractors drove to {street} at walking pace and [left a heap of {crop}
  there|handed out soup].
- At {university} they hold that the soil is [tired|too acid|better than its name], and recommend
  {~spell} under clover.
"""),
)

HEALTH = Topic(
    headlines=patterns("""
- Hospital in {town} closes {beds:12-240} beds
- {town} looks for doctors, and offers a boat
- Night clinic in {town} saved, for now
"""),
    leads=patterns("""
- The hospital of {town} will close {beds:12-240} beds from {~month}, because [nurses are
  lacking|the wards are to be rebuilt], its director {person} announced on {~day}.
- {town} has been without a doctor for {~spell} and now offers whoever comes a house, [a rowing
  boat|a place in the choir] and {~crowns}.
- The night clinic on {street}, which sees {beds:12-240} patients in an ordinary week, stays open
  for {~spell} more, [thanks to a legacy|against the advice of {office}].
"""),
    body=patterns("""
- Ambulances will go to {~town} instead, {14-60} minutes further [in good weather|on a road that
  floods].
- "We do not lack beds, we lack hands," {person2}, who has nursed there for {9-38} years,
  {~press}; she counts {30-190} hours of overtime.
- {union} wants {3-9} per cent more pay and [a rest of eleven hours between two shifts|free
  parking].
- Patients with planned operations get a letter by {~day}; those who hear nothing should [come as
  agreed|ring after two].
- The children's ward is spared, and so is the kitchen, famous for its {~food}, which [feeds the
  school as well|the patients rate above the doctors].
- A machine bought for {~crowns} in {2016-2024} stands [in its crate|under a sheet], since nobody
  has been trained to use it.
- {firm} lends {2-9} of its works nurses for {~spell}, an offer that was [accepted at once|met
  with some surprise].
- According to {university} one in {3-9} people over {60-80} in the valley lives alone, and winter
  falls have risen by {11-48} per cent.
- Volunteers drive {40-300} people a month to their appointments; the oldest driver, a/an
  {~trade}, is {71-88} and [has never been late|sings on the way].
- The board of trustees meets in the {building} on {~day}, and has asked for [a larger
  room|police].
"""),
)

ANIMALS = Topic(
    headlines=patterns("""
- {animal} stops trams in {town}
- The {animal} that {town} would not give back
- Honorary citizen with four good reasons: a/an {animal}
"""),
    leads=patterns("""
- A/an {animal} brought the traffic in {town} to a halt for {stop:20-190} minutes on {~day}, by
  settling down [between the rails|on the roof of {~vehicle}] and declining to move.
- For {stop:20-190} days a/an {animal} has been coming to the {building} of {town} every morning,
  and leaving [punctually at five|only after a bun].
- {town} has a new [mascot|citizen], a/an {animal} called [{~first}|Admiral|Minister], which
  belongs to nobody and is fed by [everybody|{stop:20-190} households].
"""),
    body=patterns("""
- "It looked at me as if I were the one in the way," {person}, a/an {trade}, {~press}.
- A vet from {~town} found the animal [in excellent health|a little stout] and put its age at
  {3-19} years, give or take.
- The fire brigade tried {~food}, then a net, then [a trombone|patience], which worked.
- By-laws of {1871-1969} forbid [geese and swine|bears] on {street}, but do not mention the
  {animal} at all.
- Children of {school} have written {20-140} letters on its behalf, one of them [in verse|in
  {~colour} ink].
- The owner is thought to live near {~town}, where in {~month} {2-14} animals [walked out of an
  open gate|were left behind by a circus].
- A shop in the arcade sells cups with its picture; {300-2400} have gone, and the money pays for
  [hay|a warm shed|the dented car].
- {office} examined whether a licence was needed, and [closed the file|asked for a photograph].
- In {1902-1988} an elephant had crossed the same square, the archivist {person2} {~press}, and
  [drunk the fountain dry|caused less trouble].
- Traffic news on Radio Kessel now carries a warning {2-5} times an hour, after [the bridge at
  {~town}|the roadworks].
"""),
)

SOFT_NEWS = (SCIENCE, CULTURE, SPORT, FARMING, HEALTH, ANIMALS)
