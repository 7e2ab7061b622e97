"""VFC's prompts of a language model, as published: captions with another verb, and verb phrases.

Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models", ICCV 2023,
appendix C.5.
"""

CHANGE = """\
In this task, you are given an input sentence. Your job is to tell me 10 output sentences with a different meaning \
by only changing the action verbs.
Input: A man walks up to a woman holding an umbrella in a garden.
Outputs:
1) A man jumps up to a woman throwing an umbrella in a garden.
2) A man runs up to a woman opening an umbrella in a garden.
3) A man walks away from a woman buying an umbrella in a garden.
4) A man throws up on a woman carrying an umbrella in a garden.
5) A man punches a woman swinging an umbrella in a garden.
6) A man sits with a woman wrapping up her umbrella in a garden.
7) A man talks to a woman closing an umbrella in a garden.
8) A man flirts with a woman playing with an umbrella in a garden.
9) A man skips to a woman leaning on her umbrella in a garden.
10) A man sprints to a man losing her umbrella in a garden.
Input: Surfers ride the waves in an ocean.
Outputs:
1) Surfers get hit by the waves in an ocean.
2) Surfers swimming in the waves in an ocean.
3) Surfers meditating by the waves in an ocean.
4) Surfers drowning in the waves in an ocean.
5) Surfers asking for help in the waves in an ocean.
6) Surfers teaming up in the waves in an ocean.
7) Surfers snorkeling in the waves in the ocean.
8) Surfers taking photos by the waves in the ocean.
9) Surfers getting ready to go into the waves in the ocean.
10) Surfers stretching by the waves in the ocean.
Input: A dentist holds the replica of a human mouth he shows how important flossing your teeth is.
Outputs:
1) A dentist cleans the replica of a human mouth he presents how unimportant flossing your teeth is.
2) A dentist breaks the replica of a human mouth he screams how important flossing your teeth is.
3) A dentist fixes the replica of a human mouth he says how important flossing your teeth is.
4) A dentist buys the replica of a human mouth he explains how important brushing your teeth is.
5) A dentist plays with the replica of a human mouth he remembers about how important washing your teeth is.
6) A dentist tidies the replica of a human mouth he rambles on about how important breaking your teeth is.
7) A dentist rotates the replica of a human mouth he presents how important fracturing your teeth is.
8) A dentist places on his legs the replica of a human mouth he shows how important flossing your teeth is.
9) A dentist searches for the replica of a human mouth he shows how important grinding your teeth is.
10) A dentist picks up the replica of a human mouth he presents how important whitening your teeth is.
Input: Looks like a band playing on the stage and perhaps Community Center and people gathered around watching.
Outputs:
1) Looks like a band fighting on the stage and perhaps Community Center and people gathered around crying.
2) Looks like a band dancing on the stage and perhaps Community Center and people gathered around smiling.
3) Looks like a band singing on the stage and perhaps Community Center and people gathered around filming.
4) Looks like a band bowing on the stage and perhaps Community Center and people gathered around clapping.
5) Looks like a band making a speech on the stage and perhaps Community Center and people gathered around listening.
6) Looks like a band laughing on the stage and perhaps Community Center and people gathered around cheering.
7) Looks like a band working on the stage and perhaps Community Center and people gathered around standing.
8) Looks like a band holding hands on the stage and perhaps Community Center and people gathered around praying.
9) Looks like a band jumping on the stage and perhaps Community Center and people gathered around encouraging.
10) Looks like a band yelling on the stage and perhaps Community Center and people gathered around watching.
Input: {caption}
Outputs:"""
PHRASES = """\
In this task, you are given an input sentence. Your job is to output the action verb phrases.
Input: the young girl in the middle of the road she is dancing.
Output: ['dancing']
Input: a city area can be seen that has people in the walkways of runways.
Output: []
Input: this is a video of a birthday and she has a green colored dress and they are cutting a cake there's a clown \
on the side and the parents seem to be clap.
Output: ['cutting cake', 'clapping']
Input: one woman is talking to the camera about being safe he has a shirt with pal pal on it in the greenery \
behind her.
Output: ['talking to camera']
Input: a bicycle with a specialized back wheel slides along a wet paper.
Output: ['sliding']
Input: a person clicking an object that is connected to a speaker.
Output: ['clicking']
Input: it's a video of a football game and one of the blue team is throwing the football really far into the endzone.
Output: ['throwing football']
Input: this is a video of someone filing their nails.
Output: ['filing nails']
Input: airplane with the words British Airways can be seen over top.
Output: []
Input: man sitting standing at the front of the room is giving speech and asking an audience if they've ever heard \
of a specific song.
Output: ['standing', 'giving speech', 'asking']
Input: it shows a video of a man talking on the phone yeah glasses and has a black phone.
Output: ['talking on phone']
Input: hitchhiker is on the side of the road by a truck stop pulling a sign that says North.
Output: ['pulling a sign']
Input: this is a video of a man on a ladder the man is cutting down a tree branch the man is wearing red.
Output: ['cutting tree']
Input: on an indoor gym on a hard Brown meth there's a man young man with a barbell with lots of heavy weights on \
each side and he has it over his head stiff arm straight arm going to be and then he drops it on the floor while \
he does so you can hear the clanking of the weight that they smack against each other.
Output: ['dropping']
Input: he is using a large chainsaw to cut inside of a tree branch.
Output: ['cutting tree']
Input: I meant stacking up his cups for cup stacking concentration for a party.
Output: ['stacking cups']
Input: a large field shown with garbage and water flowing through it.
Output: ['water flowing']
Input: a washing machine washes the clothes.
Output: ['washing clothes']
Input: {caption}
Output:"""
