"""A whole data home in one file, made while runs go on; and a home made of such a file, which is not believed."""
