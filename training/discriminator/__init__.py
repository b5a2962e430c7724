"""The discriminator between answers: graded pairs, manners of speaking, fitting, the model card."""
