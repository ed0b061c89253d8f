# The data file reader: its decoders come with the encodings.
