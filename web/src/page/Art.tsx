/** Lines of words with their pauses: the picture beside the door. */
export function Art() {
  return (
    <div className="art" aria-hidden="true">
      <svg viewBox="0 0 560 442">
        <path className="w" d="M0 14h28M40 14h67M119 14h16M147 14h44M203 14h16" />
        <path className="b" d="M233.4 4v20M240.4 4v20" />
        <path className="w" d="M255 14h36M303 14h22M337 14h27M376 14h28M416 14h54M482 14h22" />
        <path className="w" d="M0 60h36M48 60h37M97 60h54M163 60h36M211 60h16" />
        <path className="b" d="M241.1 50v20M248.1 50v20" />
        <path className="w" d="M263 60h16M291 60h22M325 60h56M393 60h44" />
        <path className="w" d="M0 106h44M56 106h22M90 106h56M158 106h54" />
        <path className="b" d="M226.1 96v20M233.1 96v20" />
        <path className="w" d="M248 106h54M314 106h44M370 106h54M436 106h28M476 106h28M516 106h44" />
        <path className="w" d="M0 152h22M34 152h54M100 152h44M156 152h36" />
        <path className="b" d="M206.2 142v20M213.2 142v20" />
        <path className="w" d="M228 152h14M254 152h44M310 152h54M376 152h28" />
        <path className="w" d="M0 198h16M28 198h16M56 198h16M84 198h28M124 198h55M191 198h36M239 198h44" />
        <path className="b" d="M297.1 188v20M304.1 188v20" />
        <path className="w" d="M319 198h44M375 198h28M415 198h28M455 198h38" />
        <path className="w" d="M0 244h16M28 244h22M62 244h61M135 244h44M191 244h28" />
        <path className="b" d="M233.0 234v20M240.0 234v20" />
        <path className="w" d="M255 244h16M283 244h54M349 244h44M405 244h43M460 244h22M494 244h44" />
        <path className="w" d="M0 290h36M48 290h36M96 290h26M134 290h54" />
        <path className="b" d="M202.1 280v20M209.1 280v20" />
        <path className="w" d="M224 290h16M252 290h63M327 290h54" />
        <path className="w" d="M0 336h54M66 336h18M96 336h36M144 336h44" />
        <path className="b" d="M202.6 326v20M209.6 326v20" />
        <path className="w" d="M224 336h22M258 336h36M306 336h28M346 336h65M423 336h36M471 336h16M499 336h16" />
        <path className="w" d="M0 382h44M56 382h16M84 382h44M140 382h14M166 382h54M232 382h16" />
        <path className="b" d="M256.3 372v20M263.3 372v20" />
        <path className="w" d="M278 382h36M326 382h16M354 382h22M388 382h60" />
        <path className="w" d="M0 428h22M34 428h36M82 428h54M148 428h44M204 428h22" />
        <path className="b now" d="M240.9 418v20M247.9 418v20" />
        <path className="w live" d="M262 428h36M310 428h44M366 428h33M411 428h28" />
        <circle cx="456" cy="428" r="5.5" />
      </svg>
    </div>
  );
}
