-- Places that Discord shows to adults alone: what was said there shows in no other place (I7).
ALTER TABLE places ADD COLUMN age_restricted boolean NOT NULL DEFAULT false;
